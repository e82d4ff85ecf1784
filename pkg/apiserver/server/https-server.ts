import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { HookedResponse, hooked } from '../../httpserver/hooked-message.ts'
import { http } from '../../httpserver/node-http.ts'
import { hasBody } from '../../httpserver/request/has-body.ts'
import { respondToClientErrors } from './client-error.ts'
import { continueWhenRead } from './expect-continue.ts'

export type RequestListener = (req: IncomingMessage, res: ServerResponse) => void

/** Settings of the TLS layer: the serving certificate and the CAs for client certificates. */
export type TlsMaterial = {
  readonly certPem: string
  readonly keyPem: string
  readonly clientCaPems: readonly string[]
}

/** Enables HTTP/2 for clients that connect with this server name (RFC 6066 section 3). */
export type Http2Option = { readonly serverName: string; readonly accept: (socket: TLSSocket) => void }

/** Timeout and maximum size of request headers. */
export type ServerLimits = { readonly headersSeconds: number; readonly headerKilobytes: number }

function toServerOptions({ headersSeconds, headerKilobytes }: ServerLimits) {
  return {
    ...hooked,
    maxHeaderSize: headerKilobytes * 1024,
    // kube-apiserver keeps idle connections for 90 s; the server must not be the first to close
    // one.
    keepAliveTimeout: 130_000,
    headersTimeout: headersSeconds * 1000,
    // Interval of the checks: a client that opens connections and sends nothing holds them no
    // longer than both timeouts together.
    connectionsCheckingInterval: Math.min(headersSeconds * 1000, 10_000),
    // Watches have no end; bodies have limits and deadlines of their own.
    requestTimeout: 0,
    shouldUpgradeCallback: mayUpgrade,
  }
}

// For example h2c, HTTP/2.0 and TLS/1.2: all of them carry further requests.
const carriesRequests = /^(?:h[23]|https?|tls)(?:[c/-]|$)/i

/**
 * Returns whether a request may be upgraded to the protocol that it offers; the offer may be
 * ignored (RFC 9110 section 7.8). Node.js does not read the body of an upgraded request, so a body
 * with preconditions or a dry run would be lost or read as the other protocol. HTTP protocols are
 * not accepted either: a component that supports them would receive requests with any identity
 * headers, without the filters.
 */
function mayUpgrade(req: IncomingMessage): boolean {
  const offers = (req.headers.upgrade ?? '').split(',')
  return !hasBody(req) && !offers.some(offer => carriesRequests.test(offer.trim()))
}

/**
 * Creates the HTTPS server. Client certificates are requested but not required; the authenticators
 * decide whether they are valid.
 */
export function createHttpsListener(
  material: TlsMaterial,
  listener: RequestListener,
  limits: ServerLimits,
  http2?: Http2Option,
): HttpsServer {
  const streamed = new WeakSet<Socket>()
  const own = {
    ALPNCallback: ({ servername, protocols }: { servername: string; protocols: string[] }) =>
      ['http/1.1', ...(servername === http2?.serverName ? ['h2'] : [])].findLast(protocol =>
        protocols.includes(protocol),
      ),
    handshakeTimeout: limits.headersSeconds * 1000,
  }
  const serve: RequestListener = (req, res) => {
    if (req.socket.isPaused() && !streamed.has(req.socket)) {
      streamed.add(req.socket)
      readThroughStream(req.socket)
    }
    listener(req, res)
  }
  const server = createHttpsServer({ ...toServerOptions(limits), ...toTlsOptions(material), ...own }, serve)
  server.on('checkContinue', continueWhenRead(serve))
  server.maxHeadersCount = 0
  // Must run before the next listener, which would wait for a handshake that never completes, to
  // respond on it: nothing else closes the connection.
  server.prependListener('tlsClientError', (_error, socket) => socket.destroy())
  respondToClientErrors(server)
  // A write is a whole response or a batch of events: waiting for more (Nagle) only adds latency.
  server.prependListener('secureConnection', (socket: TLSSocket) => socket.setNoDelay(true))
  if (http2 !== undefined) divert(server, http2.accept)
  return server
}

/**
 * Passes connections that negotiated HTTP/2 to `accept`, and all others to the existing listeners.
 */
function divert(server: HttpsServer, accept: Http2Option['accept']): void {
  const listeners = server.listeners('secureConnection')
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') accept(socket)
    else for (const listener of listeners) Reflect.apply(listener, server, [socket])
  })
}

/**
 * Makes the HTTP parser read from the stream of a socket and not from its handle. Node.js pauses a
 * connection when a request arrives before the previous response is complete, but TLS still
 * delivers what it has received; the paused parser reports that as an error (HPE_PAUSED) and closes
 * the connection. The stream buffers it instead.
 */
function readThroughStream(socket: Socket): void {
  // A listener for readable makes Node.js leave its fast path.
  socket.on('data', () => undefined)
}

/** Sets the certificates for new connections; existing ones are not affected. */
export function updateTls(server: HttpsServer, material: TlsMaterial): void {
  server.setSecureContext(toTlsOptions(material))
}

export function createHttpListener(listener: RequestListener, limits: ServerLimits): Server {
  const server = http.createServer(toServerOptions(limits), listener)
  server.on('checkContinue', continueWhenRead(listener))
  server.maxHeadersCount = 0
  respondToClientErrors(server)
  return server
}

/**
 * Creates a response for an upgrade request, which Node.js does not do, so that it passes the same
 * filters as other requests. If an earlier request of the connection is still being answered
 * (pipelining), the connection is closed.
 */
export function toUpgradeListener(
  listener: (req: IncomingMessage, res: ServerResponse, head: Buffer) => void,
): (req: IncomingMessage, socket: Duplex, head: Buffer) => void {
  return (req, socket, head) => {
    socket.on('error', () => socket.destroy())
    const res = new HookedResponse(req)
    res.shouldKeepAlive = false
    try {
      res.assignSocket(req.socket)
    } catch {
      socket.destroy()
      return
    }
    // Node.js removes its listener together with the parser.
    socket.on('drain', () => res.emit('drain'))
    res.once('finish', () => socket.end())
    listener(req, res, head)
  }
}

/** @returns the port, which the system chooses for 0 */
export async function listen(server: Server | HttpsServer, address: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host: address, port, backlog: 2048 }, resolve)
  await promise
  server.off('error', reject)
  const bound = server.address()
  return isAddressInfo(bound) ? bound.port : port
}

function toTlsOptions({ certPem, keyPem, clientCaPems }: TlsMaterial) {
  return {
    cert: certPem,
    key: keyPem,
    ca: [...clientCaPems],
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2' as const,
  }
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null
}
