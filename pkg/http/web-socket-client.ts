import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import type { TlsOptions } from './pool.ts'

export type WebSocketConnection = {
  /** Resolves when the data is written, or the connection has closed. */
  readonly send: (data: Buffer) => Promise<void>
  /** No more messages are read until `resume`. */
  readonly pause: () => void
  readonly resume: () => void
  readonly close: () => void
}

export type WebSocketTarget = {
  /** A URL with http or https. */
  readonly url: URL
  readonly tls: TlsOptions
  /** The accepted subprotocols, the preferred one first. */
  readonly protocols: readonly string[]
  /** Further headers: name, value, name, value. */
  readonly headers: readonly string[]
  readonly timeoutMs: number
  readonly maxMessageBytes: number
}

export type WebSocketEvents = {
  readonly message: (data: Buffer) => void
  /** Called once, for a connection that was open. */
  readonly closed: () => void
}

/** A response of the server other than 101. */
export class UpgradeRefused extends Error {
  readonly code: number
  readonly body: Buffer

  constructor(code: number, body: Buffer) {
    super(`the server answered ${code}`)
    this.code = code
    this.body = body
  }
}

const maxBodyBytes = 64 * 1024

/**
 * Opens a WebSocket to a server.
 *
 * @throws UpgradeRefused if the server answers otherwise, Error if it does not respond
 */
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
    // The connection is closed after it.
    webSocket.on('error', reject)
    webSocket.once('unexpected-response', async (_request, response) => {
      const body = await readBody(response).catch(() => Buffer.alloc(0))
      reject(new UpgradeRefused(response.statusCode ?? 0, body))
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

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    if (size > maxBodyBytes) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** A header that is given several times has several values. */
function toRecord(headers: readonly string[]): Record<string, string[]> {
  const record: Record<string, string[]> = {}
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? ''
    record[name] = [...(record[name] ?? []), headers[i + 1] ?? '']
  }
  return record
}
