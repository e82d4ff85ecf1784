import type { IncomingMessage } from 'node:http'
import type {
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { toKubeStatus } from '../../apierrors/render-kube.ts'
import { badRequest, methodNotAllowed, type Status } from '../../apierrors/status.ts'
import { http } from '../../httpserver/node-http.ts'
import { withTlsSocket } from '../../httpserver/tls-socket.ts'
import { createHttpListener, type RequestListener, type ServerLimits } from './https-server.ts'
import { MemoryConnection } from './memory-connection.ts'

export type Http2Sessions = {
  readonly accept: (socket: TLSSocket) => void
  /** Sends GOAWAY to all clients, and lets responses complete that have begun. */
  readonly close: () => void
  readonly destroy: () => void
}

// Longer than the idle timeout of kube-apiserver: the client must close an idle connection first.
const idleMs = 130_000
// The default of Go, whose clients open another connection if they need more streams.
const maxStreams = 250
// The limit of kube-apiserver, which sends a caller with thousands of groups as that many headers.
const clientHeadKilobytes = 1_024
const maxSessionMegabytes = 64
// With this size, a megabyte of headers fits into eight frames of nghttp2 (CVE-2024-28182).
const maxFrameSize = 256 * 1024

/**
 * Serves HTTP/2 by passing each request to the HTTP/1.1 handler through a connection in memory. The
 * aggregator of kube-apiserver sends identity headers unchanged only over HTTP/2. Over HTTP/1.1, Go
 * strips spaces, and the group " system:masters" would arrive as system:masters. Values with
 * leading or trailing spaces are therefore rejected before the conversion to HTTP/1.1.
 */
export function createHttp2Sessions(listener: RequestListener, limits: ServerLimits): Http2Sessions {
  const headKilobytes = Math.max(limits.headerKilobytes, clientHeadKilobytes)
  const server = createHttpListener(listener, { ...limits, headerKilobytes: headKilobytes })
  const sessions = new Set<ServerHttp2Session>()
  const optionsFor = ({ authorized }: TLSSocket) => ({
    settings: {
      maxConcurrentStreams: maxStreams,
      maxFrameSize,
      // Larger headers are only accepted from clients whose certificate TLS has verified.
      maxHeaderListSize: (authorized ? headKilobytes : limits.headerKilobytes) * 1024,
    },
    maxSessionMemory: maxSessionMegabytes,
    // A high limit, since each group is a header of its own, as in HTTP/1.1.
    maxHeaderListPairs: 65_536,
    strictFieldWhitespaceValidation: false,
  })

  function accept(socket: TLSSocket): void {
    // node:http2 is loaded with the first session, since the program can start without it.
    const session = process.getBuiltinModule('node:http2').performServerHandshake(socket, optionsFor(socket))
    sessions.add(session)
    let open = 0
    session.on('close', () => sessions.delete(session))
    session.on('error', () => session.destroy())
    session.setTimeout(idleMs, () => {
      if (open === 0) session.close()
    })
    session.on('stream', (stream, headers, flags, rawHeaders) => {
      open++
      stream.on('close', () => open--)
      serve(stream, { headers, flags, rawHeaders }, socket)
    })
  }

  function serve(stream: ServerHttp2Stream, head: RequestHead, socket: TLSSocket): void {
    stream.on('error', () => stream.destroy())
    // Node.js would wait for tunnel data after CONNECT (RFC 9113 section 8.5).
    if (head.headers[':method'] === 'CONNECT') {
      sendStatus(stream, methodNotAllowed([]))
      return
    }
    const blank = nameOfBlank(head.rawHeaders)
    if (blank !== undefined) {
      sendStatus(stream, badRequest(`the header ${blank} begins or ends with a space or a tab`))
      return
    }
    const [near, far] = MemoryConnection.pair()
    near.on('close', () => far.destroy())
    server.emit('connection', withTlsSocket(far, socket))
    try {
      forward(stream, head, near)
    } catch {
      near.destroy()
      sendStatus(stream, badRequest('failed to read the request'))
    }
  }

  return {
    accept,
    close() {
      for (const session of sessions) session.close()
    },
    destroy() {
      for (const session of sessions) session.destroy()
    },
  }
}

type RequestHead = {
  readonly headers: IncomingHttpHeaders
  readonly flags: number
  /** Names and values in turn, including pseudo-headers. */
  readonly rawHeaders: readonly string[]
}

/** Returns the name of a header with outer blanks (malformed by RFC 9113 section 8.2.1). */
function nameOfBlank(rawHeaders: readonly string[]): string | undefined {
  const at = rawHeaders.findIndex((text, i) => i % 2 === 1 && /^[ \t]|[ \t]$/.test(text))
  return at < 0 ? undefined : rawHeaders[at - 1]
}

/** @throws Error for headers that are not valid in HTTP/1.1 */
function forward(
  stream: ServerHttp2Stream,
  { headers, flags, rawHeaders }: RequestHead,
  connection: Duplex,
): void {
  const { constants } = process.getBuiltinModule('node:http2')
  const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0
  const request = http.request({
    createConnection: () => connection,
    method: headers[':method'],
    path: headers[':path'],
    headers: toLines(headers, rawHeaders, hasBody),
  })
  stream.on('close', () => {
    if (!connection.destroyed) request.destroy()
  })
  // The stream is destroyed, not closed: a truncated response must not look complete.
  const fail = (error: Error) => void stream.destroy(error)
  request.on('error', fail)
  request.on('response', response => {
    const { statusCode = 500 } = response
    const hasNoBody = headers[':method'] === 'HEAD' || statusCode === 204 || statusCode === 304
    // The client may have disconnected.
    if (stream.destroyed || stream.closed) {
      request.destroy()
      return
    }
    stream.respond(toResponseHeaders(response), { endStream: hasNoBody })
    // As kube-apiserver does. A CA that was added after the handshake applies to the next connection.
    if (statusCode === 401) stream.session?.close()
    response.on('error', fail)
    if (hasNoBody) response.resume()
    else response.pipe(stream)
  })
  if (hasBody) stream.pipe(request)
  else request.end()
}

// RFC 9113 section 8.2.2: connection-specific headers are not allowed in HTTP/2.
const ofConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])

/** Returns the headers of the HTTP/1.1 request, as RFC 9113 sections 8.3.1 and 8.2.3 require. */
function toLines(headers: IncomingHttpHeaders, rawHeaders: readonly string[], hasBody: boolean): string[] {
  const authority = headers[':authority']
  const lines = authority === undefined ? [] : ['Host', authority]
  const cookies: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const value = rawHeaders[i + 1] ?? ''
    if (name === 'cookie') cookies.push(value)
    else if (name === 'host' ? authority === undefined : !name.startsWith(':') && !ofConnection.has(name))
      lines.push(name, value)
  }
  if (cookies.length > 0) lines.push('Cookie', cookies.join('; '))
  if (hasBody && headers['content-length'] === undefined) lines.push('Transfer-Encoding', 'chunked')
  return lines
}

function toResponseHeaders({ statusCode, rawHeaders }: IncomingMessage): OutgoingHttpHeaders {
  const headers = new Map<string, string[]>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    if (!ofConnection.has(name)) headers.set(name, [...(headers.get(name) ?? []), rawHeaders[i + 1] ?? ''])
  }
  const single = [...headers].map(([name, values]) => [name, values.length === 1 ? values[0] : values])
  return { ':status': statusCode, ...Object.fromEntries(single) }
}

function sendStatus(stream: ServerHttp2Stream, status: Status): void {
  if (stream.destroyed || stream.headersSent) return
  stream.respond({
    ':status': status.code,
    'content-type': 'application/json',
    'cache-control': 'no-cache, private',
  })
  stream.end(`${JSON.stringify(toKubeStatus(status))}\n`)
}
