import type { IncomingMessage, ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'

// Timeout for the close frame of the client (RFC 6455 section 7.1.1).
const closingMs = 2_000
// A server may skip pongs (RFC 6455 section 5.5.3): those that a client does not read must not fill
// the memory.
const maxPongsBehindBytes = 64 * 1024
const defaultMaxMessageBytes = 64 * 1024
const lineFeed = 0x0a
// RFC 6455 section 7.4.1.
const unsupportedData = 1003

export type WebSocketOptions = {
  /** The accepted subprotocol, which readHandshake has returned. */
  readonly protocol: string | undefined
  /** Bytes that arrived after the headers of the handshake. */
  readonly head: Buffer
  /**
   * Handles a text message of the client. Reading from the connection pauses until the returned
   * promise resolves. If omitted, messages are ignored.
   */
  readonly receive?: (message: string) => Promise<void>
  /** Maximum size of a message of the client. A larger one closes the connection. */
  readonly maxMessageBytes?: number
}

/**
 * Continues a connection as a WebSocket. Each written line is a text message including its line
 * feed; a line in several writes is sent as fragments. The end of the stream sends a close frame.
 */
export function openWebSocket(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  { protocol, head, receive, maxMessageBytes = defaultMaxMessageBytes }: WebSocketOptions,
): Writable {
  const { socket } = req
  res.detachSocket(socket)
  res.statusCode = 101
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    autoPong: false,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    handleProtocols: () => protocol ?? false,
  })
  // Adds the headers that every response of Kapis has, such as Audit-Id.
  server.once('headers', lines => {
    for (const [name, value] of Object.entries(res.getHeaders())) lines.push(`${name}: ${value}`)
  })
  let stream: Writable | undefined
  server.handleUpgrade(req, socket, head, webSocket => {
    stream = createMessageStream(webSocket)
    if (receive !== undefined) receiveMessages(webSocket, receive)
  })
  // The stream is undefined if the client has already disconnected.
  const opened = stream ?? new Writable().destroy()
  // A response whose socket was taken over emits no event; the access log, metrics and audit wait
  // for it.
  opened.once('close', () => res.emit('close'))
  return opened
}

/** Handles messages one after another, even if several have been read in one chunk. */
function receiveMessages(webSocket: WebSocket, receive: (message: string) => Promise<void>): void {
  let waiting = 0
  let last = Promise.resolve()
  webSocket.on('message', (data, isBinary) => {
    if (isBinary || !Buffer.isBuffer(data)) {
      webSocket.close(unsupportedData, 'expected a text message')
      return
    }
    if (waiting++ === 0) webSocket.pause()
    last = last
      .then(() => receive(data.toString()))
      // The handler sends errors to the client itself; an unexpected one ends the connection.
      .catch(() => webSocket.terminate())
      .finally(() => {
        if (--waiting === 0) webSocket.resume()
      })
  })
}

function createMessageStream(webSocket: WebSocket): Writable {
  /** Whether the current message is incomplete. */
  let isWithin = false
  const send = (part: Buffer, fin: boolean, done?: () => void) => {
    isWithin = !fin
    webSocket.send(part, { binary: false, fin }, done)
  }
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      // Data after the close frame of the client is ignored.
      if (webSocket.readyState !== webSocket.OPEN) return done()
      const finished = () => done()
      for (let at = 0; at < chunk.length; ) {
        const found = chunk.indexOf(lineFeed, at)
        const end = found < 0 ? chunk.length : found + 1
        send(chunk.subarray(at, end), found >= 0, end === chunk.length ? finished : undefined)
        at = end
      }
      if (chunk.length === 0) done()
    },
    final(done) {
      const timer = setTimeout(() => webSocket.terminate(), closingMs)
      webSocket.once('close', () => {
        clearTimeout(timer)
        done()
      })
      // A close frame cannot be sent within an incomplete message.
      if (isWithin) webSocket.terminate()
      else webSocket.close(1000)
    },
    destroy(_error, done) {
      webSocket.terminate()
      done(null)
    },
  })
  webSocket.on('ping', payload => {
    if (webSocket.readyState === webSocket.OPEN && webSocket.bufferedAmount < maxPongsBehindBytes)
      webSocket.pong(payload, false)
  })
  // A protocol violation of the client; ws sends the matching close code.
  webSocket.on('error', () => undefined)
  webSocket.once('close', () => stream.destroy())
  return stream
}
