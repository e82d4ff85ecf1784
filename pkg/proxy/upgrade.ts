import type { Duplex } from 'node:stream'
import type { AuthenticatedExchange } from '../apirequest/request-context.ts'
import { formatTarget } from '../apirequest/target.ts'
import { componentHeaders } from './components/component-proxy.ts'
import type { ComponentUpstream } from './components/component-upstream.ts'
import type { HeaderLines } from './headers.ts'
import { type KubeServer, kubeApiserverHeaders, toTarget } from './kube-apiserver-proxy.ts'
import { rejectRedirect } from './redirect.ts'
import { relay, type UpstreamRequest } from './reverse-proxy.ts'

/** Streams that the two directions of an upgraded connection pass through. */
export type Taps = {
  readonly fromClient: Duplex
  readonly fromServer: Duplex
  /**
   * Accepts data of the server ahead of `fromServer`. When kube-apiserver has closed a connection,
   * the next message of the client resets it, and what has not been read by then is lost.
   */
  readonly ahead: Duplex
  /** Sent to the client before any other data. */
  readonly greeting: Buffer
  /** Called when both connections have closed. */
  readonly closed: () => void
}

/** Opens taps once the upstream server has switched protocols. @throws Status to end the request */
export type OpenTaps = (lines: HeaderLines) => Promise<Taps>

export type UpgradeTarget = Omit<UpstreamRequest, 'isLive' | 'upgrade'> & {
  readonly openTaps?: OpenTaps | undefined
}

/** Returns the upgrade target for kube-apiserver, with the headers that impersonate the caller. */
export async function kubeUpgrade(
  server: KubeServer,
  exchange: AuthenticatedExchange,
): Promise<UpgradeTarget> {
  const { connections, credential } = await server.connections.line('upgrade')
  const headers = [...kubeApiserverHeaders(exchange, server), ...credential]
  return { ...toTarget(server)(exchange), connections, headers }
}

/** Returns the upgrade target for a component, with the identity of the caller. */
export function componentUpgrade(target: ComponentUpstream, exchange: AuthenticatedExchange): UpgradeTarget {
  const { url, name } = target.component
  return {
    connections: target.long,
    path: url.pathname.replace(/\/$/, '') + formatTarget(exchange),
    headers: componentHeaders(target, exchange),
    upstream: `the component ${name}`,
    rejection: rejectRedirect(`the component ${name}`, exchange.req),
  }
}

/**
 * Proxies an upgrade (exec, attach, port-forward: WebSocket and SPDY), and then connects the two
 * sockets. The stream is not parsed, unless it is recorded.
 *
 * @throws Status 502, 503 or 504 if the upstream server is not responding
 */
export function forwardUpgrade(
  target: UpgradeTarget,
  exchange: Pick<AuthenticatedExchange, 'req' | 'res' | 'upgrade' | 'markLongRunning'>,
): Promise<void> {
  const { req, res, upgrade: early = Buffer.alloc(0) } = exchange
  const { socket } = req
  const { openTaps, ...outgoing } = target
  const upgrade = {
    protocol: req.headers.upgrade ?? '',
    async join(lines: HeaderLines, peer: Duplex) {
      const taps = openTaps && (await tapped(openTaps, lines, peer))
      res.detachSocket(socket)
      res.statusCode = 101
      exchange.markLongRunning?.()
      socket.write(toHandshake(lines))
      if (taps !== undefined) socket.write(taps.greeting)
      if (early.length > 0) (taps?.fromClient ?? peer).write(early)
      await joinConnections(socket, peer, taps)
      taps?.closed()
      // A response whose socket was taken over emits no event; the access log, metrics and audit
      // wait for it.
      res.emit('close')
    },
  }
  return relay({ ...outgoing, isLive: true, upgrade }, exchange)
}

async function tapped(openTaps: OpenTaps, lines: HeaderLines, peer: Duplex): Promise<Taps> {
  peer.on('error', () => undefined)
  try {
    return await openTaps(lines)
  } catch (error) {
    peer.destroy()
    throw error
  }
}

// After one side has closed, time for the other to receive and send the remaining data.
const lingerMs = 30_000

/**
 * Copies bytes in both directions until both connections have closed. If one side ends, the other
 * is ended after all data is written: the last frames of a WebSocket contain the exit status. An
 * error on one destroys both.
 */
export async function joinConnections(
  a: Duplex,
  b: Duplex,
  taps?: Pick<Taps, 'fromClient' | 'fromServer' | 'ahead'>,
): Promise<void> {
  const [toB, toA] =
    taps === undefined ? [a, b] : [a.pipe(taps.fromClient), b.pipe(taps.ahead).pipe(taps.fromServer)]
  toB.pipe(b)
  toA.pipe(a)
  stopWriting(toB, b)
  stopWriting(toA, a)
  for (const tap of taps === undefined ? [] : [taps.fromClient, taps.fromServer]) {
    tap.on('error', () => {
      a.destroy()
      b.destroy()
    })
  }
  await Promise.all([follow(a, b, toB), follow(b, a, toA)])
  taps?.ahead.destroy()
}

/**
 * Stops copying to a connection that has closed, or whose peer has ended it: if a socket does not
 * allow half-open connections, Node.js then ends it, and a write to it would abort both
 * connections. Further data is read and discarded, for the reason given in follow.
 */
function stopWriting(source: Duplex, to: Duplex): void {
  const stop = () => {
    source.unpipe(to)
    source.resume()
  }
  to.once('close', stop)
  to.once('end', () => {
    if (!to.allowHalfOpen) stop()
  })
}

/**
 * Resolves when `from` has closed, and then closes `to` once its peer has read all data.
 *
 * @param last the stream that writes the data of `from` to `to`
 */
function follow(from: Duplex, to: Duplex, last: Duplex): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const ended = () => {
    resolve()
    if (!from.readableEnded) to.destroy()
    if (to.destroyed) return
    // Kapis has ended its side. Data that still arrives is read and discarded: closing a connection
    // with unread bytes resets it, and the peer would lose what it has not read yet.
    to.resume()
    const linger = () => {
      const timer = setTimeout(() => to.destroy(), lingerMs)
      to.once('close', () => clearTimeout(timer))
    }
    if (last.readableEnded || last.destroyed) linger()
    else last.once('end', linger)
  }
  from.on('error', () => to.destroy())
  if (from.closed) ended()
  else from.once('close', ended)
  return promise
}

/** Returns the upstream's 101 response with hop-by-hop headers, which are the handshake. */
function toHandshake(lines: HeaderLines): string {
  let head = 'HTTP/1.1 101 Switching Protocols\r\n'
  for (let i = 0; i < lines.length; i += 2) head += `${lines[i]}: ${lines[i + 1]}\r\n`
  return `${head}\r\n`
}
