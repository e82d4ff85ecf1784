import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type Details, type Reason, Status, unavailable } from '../status/status.ts'
import type { Endpoint } from './endpoint.ts'

export type Call = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query, as they go on the wire. */
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /** Sees the request before it is sent, for whoever follows what becomes of it. */
  readonly onRequest?: (req: ClientRequest) => void
}

/** Calls to the orchestrator as Kapis itself. */
export type KubeClient = {
  /** The parsed JSON answer. @throws Status as the orchestrator sent it, or 503 when it does not answer */
  readonly call: (call: Call) => Promise<unknown>
  /** The answer as a stream, once its head is there; a watch. @throws the same */
  readonly stream: (call: Call) => Promise<IncomingMessage>
  readonly close: () => void
}

const defaultTimeoutMs = 10_000

export function createKubeClient(endpoint: Endpoint): KubeClient {
  async function send(call: Call): Promise<IncomingMessage> {
    const options = await endpoint.options()
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body))
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const req = httpsRequest(
      {
        ...options,
        method: call.method ?? 'GET',
        path:
          endpoint.url.pathname === '/' ? call.path : endpoint.url.pathname.replace(/\/$/, '') + call.path,
        headers: {
          ...options.headers,
          accept: call.accept ?? 'application/json',
          'user-agent': 'kapis',
          ...(body === undefined
            ? {}
            : { 'content-type': call.contentType ?? 'application/json', 'content-length': body.length }),
        },
        ...(call.signal === undefined ? {} : { signal: call.signal }),
      },
      resolve,
    )
    req.setTimeout(call.timeoutMs ?? defaultTimeoutMs, () => req.destroy(new Error('timeout')))
    req.on('error', error => reject(unavailable('the orchestrator does not answer', error)))
    call.onRequest?.(req)
    req.end(body)
    return promise
  }

  async function stream(call: Call): Promise<IncomingMessage> {
    const res = await send(call)
    if (res.statusCode === 401) endpoint.refused()
    if ((res.statusCode ?? 500) >= 400) throw toStatus(res, await readBody(res))
    return res
  }

  return {
    stream,
    async call(call) {
      const body = await readBody(await stream(call))
      if (body.length === 0) return undefined
      try {
        return JSON.parse(body.toString('utf8'))
      } catch (error) {
        throw unavailable('the orchestrator answers what cannot be read', error)
      }
    },
    close: endpoint.close,
  }
}

/** The answer to a call as text, for those who must not round its numbers. @throws Status */
export async function readText(client: KubeClient, call: Call): Promise<string> {
  return (await readBody(await client.stream(call))).toString('utf8')
}

async function readBody(res: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of res) chunks.push(chunk)
  } catch (error) {
    throw unavailable('the orchestrator broke off its answer', error)
  }
  return Buffer.concat(chunks)
}

/** The orchestrator's own error, kept as a Status so that its code and reason can be acted on. */
function toStatus(res: IncomingMessage, body: Buffer): Status {
  const code = res.statusCode ?? 500
  const fallback = { message: body.toString('utf8', 0, 200), reason: 'InternalError' as Reason }
  try {
    const parsed: { message?: string; reason?: Reason; details?: Details } = JSON.parse(body.toString('utf8'))
    const extras = parsed.details === undefined ? {} : { details: parsed.details }
    return new Status(code, parsed.reason ?? fallback.reason, parsed.message ?? fallback.message, extras)
  } catch {
    return new Status(code, fallback.reason, fallback.message)
  }
}
