import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:https'
import { narrowedHeader } from '../../../pkg/authz/narrowing/narrowed-lists.ts'

/** A raw request; `headers` is a list of name, value, name, value. */
export type SentRequest = {
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
  readonly body: string
}

/** A response; the code is 0 if the connection ended without a response. */
export type ReceivedResponse = {
  readonly code: number
  readonly text: string
  /** Reason of the Status, such as Forbidden. */
  readonly reason: string
  readonly auditId: string
  /**
   * Whether Kapis has narrowed a list to what the caller may list
   * (docs/adr/0019-narrowed-lists.md).
   */
  readonly isNarrowed: boolean
}

export type RequestSender = {
  readonly send: (sent: SentRequest) => Promise<ReceivedResponse>
  readonly close: () => void
}

export type Server = { readonly url: string; readonly ca: Buffer }
export type Pair = { readonly cert: string; readonly key: string }

// Time to wait for the first events of a watch, which does not end.
const openMs = 250
const timeoutMs = 20_000
const maxText = 1_000_000
const nothing: ReceivedResponse = { code: 0, text: '', reason: '', auditId: '', isNarrowed: false }

/** Creates a function that sends requests unmodified, with a client certificate or without. */
export function createRequestSender({ url, ca }: Server, pair?: Pair): RequestSender {
  const agent = new Agent({ keepAlive: true, maxSockets: 8, ca, ...pair })
  const { hostname, port, host } = new URL(url)

  async function send({ method, target, headers, body }: SentRequest): Promise<ReceivedResponse> {
    const { promise, resolve } = Promise.withResolvers<ReceivedResponse>()
    const length = body === '' ? [] : ['Content-Length', String(Buffer.byteLength(body))]
    const options = { agent, hostname, port, method, path: target, timeout: timeoutMs }
    const req = request({ ...options, headers: ['Host', host, ...headers, ...length] })
    const finish = (response: ReceivedResponse) => {
      resolve(response)
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
        // The response is not destroyed, so that the connection can be reused.
        resolve(toSeen())
      })
    })
    req.end(body)
    return promise
  }
  return { send, close: () => agent.destroy() }
}

function ofHeaders(headers: IncomingHttpHeaders): Pick<ReceivedResponse, 'auditId' | 'isNarrowed'> {
  return { auditId: String(headers['audit-id'] ?? ''), isNarrowed: narrowedHeader in headers }
}

function reasonIn(text: string): string {
  return /^\s*\{.*"status"\s*:\s*"Failure".*"reason"\s*:\s*"(\w*)"/s.exec(text)?.[1] ?? ''
}
