import { WebSocket } from 'ws'
import type { TlsOptions } from './pool.ts'
import { readBody } from './read-body.ts'

export type WebSocketConnection = {
  /** Sends a message; resolves when it has been written or the connection has closed. */
  readonly send: (data: Buffer) => Promise<void>
  /** Stops reading messages until `resume` is called. */
  readonly pause: () => void
  readonly resume: () => void
  readonly close: () => void
}

export type WebSocketTarget = {
  /** URL with the scheme http or https. */
  readonly url: URL
  readonly tls: TlsOptions
  /** Accepted subprotocols, the preferred one first. */
  readonly protocols: readonly string[]
  /** Additional headers: name, value, name, value. */
  readonly headers: readonly string[]
  readonly timeoutMs: number
  readonly maxMessageBytes: number
}

export type WebSocketEvents = {
  readonly message: (data: Buffer) => void
  /** Called once when an open connection has closed. */
  readonly closed: () => void
}

/** The error for a response other than 101. */
export class UpgradeRejected extends Error {
  readonly code: number
  readonly body: Buffer

  constructor(code: number, body: Buffer) {
    super(`the server responded with ${code}`)
    this.code = code
    this.body = body
  }
}

const maxBodyBytes = 64 * 1024

/** Opens a WebSocket. @throws UpgradeRejected for another response, Error without one */
export function connectWebSocket(
  { url, tls, protocols, headers, timeoutMs, maxMessageBytes }: WebSocketTarget,
  { message, closed }: WebSocketEvents,
): Promise<WebSocketConnection> {
  const webSocket = new WebSocket(url, [...protocols], {
    ...tls,
    headers: toRecord(headers),
    handshakeTimeout: timeoutMs,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    followRedirects: false,
  })
  return new Promise((resolve, reject) => {
    webSocket.on('message', data => message(Buffer.isBuffer(data) ? data : Buffer.from(String(data))))
    // The connection closes after an error.
    webSocket.on('error', reject)
    webSocket.once('unexpected-response', async (_request, response) => {
      const body = await readBody(response, maxBodyBytes).catch(() => Buffer.alloc(0))
      reject(new UpgradeRejected(response.statusCode ?? 0, body))
      webSocket.terminate()
    })
    webSocket.once('open', () => {
      webSocket.once('close', closed)
      resolve({
        send: data =>
          new Promise(sent => {
            if (webSocket.readyState !== webSocket.OPEN) return sent()
            webSocket.send(data, () => sent())
          }),
        pause: () => webSocket.pause(),
        resume: () => webSocket.resume(),
        close: () => webSocket.terminate(),
      })
    })
  })
}

/** Groups headers by name; a repeated header has several values. */
function toRecord(headers: readonly string[]): Record<string, string[]> {
  const record: Record<string, string[]> = {}
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? ''
    record[name] = [...(record[name] ?? []), headers[i + 1] ?? '']
  }
  return record
}
