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

export type TlsMaterial = {
  readonly certPem: string
  readonly keyPem: string
  readonly clientCaPems: readonly string[]
}

/** Enables HTTP/2 for clients that request this server name in TLS (RFC 6066 section 3). */
export type Http2Option = { readonly serverName: string; readonly accept: (socket: TLSSocket) => void }

/** Timeout for and maximum size of request headers. */
export type ServerLimits = { readonly headersSeconds: number; readonly headerKilobytes: number }

function toServerOptions({ headersSeconds, headerKilobytes }: ServerLimits) {
  return {
    ...hooked,
    maxHeaderSize: headerKilobytes * 1024,
    // kube-apiserver keeps idle connections for 90 s; the server must not be first to close one.
    keepAliveTimeout: 130_000,
    headersTimeout: headersSeconds * 1000,
    // The interval of timeout checks. A client that opens a connection and sends nothing can keep
    // it for at most both timeouts together.
    connectionsCheckingInterval: Math.min(headersSeconds * 1000, 10_000),
    // No timeout for whole requests: watches do not end, and bodies have separate limits.
    requestTimeout: 0,
    shouldUpgradeCallback: mayUpgrade,
  }
}

// Protocols that carry further requests, such as h2c, HTTP/2.0 and TLS/1.2.
const carriesRequests = /^(?:h[23]|https?|tls)(?:[c/-]|$)/i

/**
 * Returns whether a request may be upgraded to the protocol that it offers. A server may ignore the
 * offer (RFC 9110 section 7.8). Node.js does not read the body of an upgraded request: a body with
 * preconditions or a dry run would be lost or read as the other protocol. HTTP protocols are not
 * accepted either: a component that supports them would receive requests with any identity headers,
 * without the filters.
 */
function mayUpgrade(req: IncomingMessage): boolean {
  const offers = (req.headers.upgrade ?? '').split(',')
  return !hasBody(req) && !offers.some(offer => carriesRequests.test(offer.trim()))
}

/** Creates the HTTPS server. Client certificates are optional; the authenticators verify them. */
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
  // This listener must come first: the next one would try to send a response after a failed
  // handshake, and nothing else would close the connection.
  server.prependListener('tlsClientError', (_error, socket) => socket.destroy())
  respondToClientErrors(server)
  // Disables the Nagle algorithm: each write is a whole response or a batch of events, so waiting
  // for more data would only add latency.
  server.prependListener('secureConnection', (socket: TLSSocket) => socket.setNoDelay(true))
  if (http2 !== undefined) divert(server, http2.accept)
  return server
}

/** Passes connections with HTTP/2 to `accept`, all others to the existing listeners. */
function divert(server: HttpsServer, accept: Http2Option['accept']): void {
  const listeners = server.listeners('secureConnection')
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') accept(socket)
    else for (const listener of listeners) Reflect.apply(listener, server, [socket])
  })
}

/**
 * Makes the HTTP parser read from the stream of a socket rather than from its handle. Node.js
 * pauses a connection when a request arrives before the previous response is complete, but TLS
 * still delivers data that it has received. The paused parser would report this data as an error
 * (HPE_PAUSED) and close the connection. The stream buffers it.
 */
function readThroughStream(socket: Socket): void {
  // A data listener disables the fast path in which the parser reads from the handle.
  socket.on('data', () => undefined)
  // The pause has stopped the handle, which Node.js no longer restarts. The stream still expects the
  // result of an earlier read: an empty one makes it read again.
  socket.push(Buffer.alloc(0))
}

/** Sets the certificates for new connections; existing connections are not affected. */
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
 * Creates a response for an upgrade request, as Node.js does for other requests, so that it passes
 * the same filters. If the response to an earlier request of the connection is incomplete
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
    // Node.js removes its own drain listener together with the parser.
    socket.on('drain', () => res.emit('drain'))
    res.once('finish', () => socket.end())
    listener(req, res, head)
  }
}

/** @returns the port, which the system chooses if `port` is 0 */
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
    // The bundle of kube-apiserver may contain an intermediate CA without its root.
    allowPartialTrustChain: true,
    minVersion: 'TLSv1.2' as const,
  }
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null
}
