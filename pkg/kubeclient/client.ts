import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { Status, unavailable } from '../apierrors/status.ts'
import { ReloadingPool } from '../http/pool.ts'
import { BodyTooLargeError, readBody as readWhole } from '../http/read-body.ts'
import { stringifyExactly } from '../json/stringify.ts'
import type { RestConfig } from './config/rest-config.ts'
import { parseStatus } from './errors/parse-status.ts'

export type Call = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query exactly as in the request line. */
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  /** Additional headers: name, value, name, value. */
  readonly headers?: readonly string[]
  readonly signal?: AbortSignal
  /** Timeout for the response headers, and then for each chunk of the body. */
  readonly timeoutMs?: number
  /** Maximum size of a response that is read whole; by default there is none. */
  readonly maxBytes?: number
  /** Called when the response headers arrive. */
  readonly onResponse?: (code: number, headers: IncomingHttpHeaders) => void
}

/** Returns the call that changes the given fields of an object (JSON Merge Patch, RFC 7396). */
export function mergePatch(path: string, body: object): Call {
  return { method: 'PATCH', path, contentType: 'application/merge-patch+json', body }
}

/** Sends requests to kube-apiserver with the credential of Kapis itself. */
export type KubeClient = {
  /** Returns the parsed JSON response. @throws Status of kube-apiserver, or 503 without one */
  readonly call: (call: Call) => Promise<unknown>
  /** Returns the body as a stream. @throws Status of kube-apiserver, or 503 without a response */
  readonly stream: (call: Call) => Promise<Readable>
  readonly close: () => void
}

const defaultTimeoutMs = 10_000
const pooling = {
  // A separate pool for watches, so that they cannot block other requests.
  connections: 128,
  connectMs: 10_000,
  headMs: defaultTimeoutMs,
  bodyMs: defaultTimeoutMs,
  idleMs: 60_000,
  maxHeadBytes: 64 * 1024,
}

export function createKubeClient(endpoint: RestConfig): KubeClient {
  const pool = new ReloadingPool(endpoint.url, pooling)
  const base = endpoint.url.pathname.replace(/\/$/, '')

  async function send(call: Call) {
    const { method = 'GET', timeoutMs = defaultTimeoutMs, headers = [], signal } = call
    const { tls, headers: credential } = await endpoint.access()
    const body = call.body === undefined ? null : stringifyExactly(call.body)
    const type = body === null ? [] : ['content-type', call.contentType ?? 'application/json']
    const accept = call.accept ?? 'application/json'
    try {
      return await pool.use(tls).request({
        method,
        path: base + call.path,
        headers: [...credential, 'accept', accept, 'user-agent', 'kapis', ...type, ...headers],
        body,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        ...(method === 'DELETE' ? { reset: false } : {}),
        ...(signal === undefined ? {} : { signal }),
      })
    } catch (error) {
      throw unavailable('kube-apiserver is not responding', error)
    }
  }

  async function stream(call: Call): Promise<Readable> {
    const { statusCode, headers, body } = await send(call)
    call.onResponse?.(statusCode, headers)
    if (statusCode === 401) endpoint.credentialRejected()
    if (statusCode >= 400) throw toStatus(statusCode, await readBody(body, call))
    if (statusCode >= 300) {
      // Without a listener, the end of the discarded body would be an uncaught error.
      body.on('error', () => undefined).destroy()
      const cause = Object.assign(new Error(`redirected with ${statusCode}`), { code: 'UPSTREAM_REDIRECT' })
      throw unavailable('kube-apiserver responded with a redirect, which is not supported', cause)
    }
    return body
  }

  return {
    stream,
    async call(call) {
      const body = await readBody(await stream(call), call)
      if (body.length === 0) return undefined
      try {
        return JSON.parse(body.toString('utf8'))
      } catch (error) {
        throw unavailable('kube-apiserver returned a response that is not valid JSON', error)
      }
    },
    close: () => pool.destroy(),
  }
}

/** Returns the response body as bytes. @throws Status */
export async function readBytes(client: KubeClient, call: Call): Promise<Buffer> {
  return readBody(await client.stream(call), call)
}

/** Returns the response body as text, for callers that must not round numbers. @throws Status */
export async function readText(client: KubeClient, call: Call): Promise<string> {
  return (await readBytes(client, call)).toString('utf8')
}

async function readBody(body: Readable, { maxBytes = Infinity }: Call): Promise<Buffer> {
  try {
    return await readWhole(body, maxBytes)
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw unavailable(error.message)
    throw unavailable('kube-apiserver closed the connection before the response was complete', error)
  }
}

/** Converts an error response of kube-apiserver to a Status with the same code and reason. */
export function toStatus(code: number, body: Buffer): Status {
  const { message, reason, details } = parseStatus(body) ?? {}
  const extras = details === undefined ? {} : { details }
  return new Status(code, reason ?? 'InternalError', message ?? body.toString('utf8', 0, 200), extras)
}
