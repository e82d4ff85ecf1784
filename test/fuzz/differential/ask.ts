import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:https'
import { narrowedHeader } from '../../../pkg/authz/narrowing/narrowed-lists.ts'

/** One raw request: header lines are name, value, name, value. */
export type Sent = {
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
  readonly body: string
}

/** A response; code 0 for a connection that ended without one. */
export type Seen = {
  readonly code: number
  readonly text: string
  /** Of a Status, such as Forbidden. */
  readonly reason: string
  readonly auditId: string
  /** A list of Kapis that holds only what its caller may list (docs/adr/0019-narrowed-lists.md). */
  readonly isNarrowed: boolean
}

export type Asker = { readonly ask: (sent: Sent) => Promise<Seen>; readonly close: () => void }

export type Server = { readonly url: string; readonly ca: Buffer }
export type Pair = { readonly cert: string; readonly key: string }

// A watch does not end: its first events arrive within this time.
const openMs = 250
const timeoutMs = 20_000
const maxText = 1_000_000
const nothing: Seen = { code: 0, text: '', reason: '', auditId: '', isNarrowed: false }

/** Sends requests to a server with a client certificate or none, unchanged. */
export function createAsker({ url, ca }: Server, pair?: Pair): Asker {
  const agent = new Agent({ keepAlive: true, maxSockets: 8, ca, ...pair })
  const { hostname, port, host } = new URL(url)

  async function ask({ method, target, headers, body }: Sent): Promise<Seen> {
    const { promise, resolve } = Promise.withResolvers<Seen>()
    const length = body === '' ? [] : ['Content-Length', String(Buffer.byteLength(body))]
    const options = { agent, hostname, port, method, path: target, timeout: timeoutMs }
    const req = request({ ...options, headers: ['Host', host, ...headers, ...length] })
    const finish = (seen: Seen) => {
      resolve(seen)
      req.destroy()
    }
    req.on('error', () => finish(nothing))
    req.on('timeout', () => finish(nothing))
    req.on('upgrade', ({ statusCode = 0, headers }, socket) => {
      socket.destroy()
      finish({ ...nothing, code: statusCode, ...ofHeaders(headers) })
    })
    req.on('response', res => {
      let text = ''
      const toSeen = () => ({
        code: res.statusCode ?? 0,
        text,
        reason: reasonIn(text),
        ...ofHeaders(res.headers),
      })
      const timer = setTimeout(() => finish(toSeen()), openMs)
      res.on('data', (chunk: Buffer) => {
        if (text.length < maxText) text += chunk.toString('latin1')
      })
      res.on('close', () => {
        clearTimeout(timer)
        // Not destroyed: the connection is used again.
        resolve(toSeen())
      })
    })
    req.end(body)
    return promise
  }
  return { ask, close: () => agent.destroy() }
}

function ofHeaders(headers: IncomingHttpHeaders): Pick<Seen, 'auditId' | 'isNarrowed'> {
  return { auditId: String(headers['audit-id'] ?? ''), isNarrowed: narrowedHeader in headers }
}

function reasonIn(text: string): string {
  return /^\s*\{.*"status"\s*:\s*"Failure".*"reason"\s*:\s*"(\w*)"/s.exec(text)?.[1] ?? ''
}
