import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { http } from '../../request/node-http.ts'
import type { Trust } from './trust.ts'

export type UpstreamFetch = (
  url: string,
  init: {
    readonly method?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
    readonly signal?: AbortSignal | undefined
  },
) => Promise<Response>

// Discovery documents, key sets and lists of groups are some kilobytes.
const maxBytes = 2 * 1024 * 1024

/**
 * fetch() for what providers answer, with authorities of their own: the global one takes none. Redirects are not followed
 * (a token must not be carried to wherever somebody points), and an answer that does not end is not read to its end.
 */
export function createUpstreamFetch({ ca, isVerified }: Trust): UpstreamFetch {
  const settings = { keepAlive: false, maxSockets: 64 }
  const agents = {
    http: new http.Agent(settings),
    https: new HttpsAgent({
      ...settings,
      rejectUnauthorized: isVerified,
      ...(ca === undefined ? {} : { ca }),
    }),
  }
  return (url, { method = 'GET', headers = {}, body, signal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    const isHttps = url.startsWith('https:')
    const req = (isHttps ? requestHttps : http.request)(
      url,
      {
        agent: isHttps ? agents.https : agents.http,
        method,
        headers: { 'user-agent': 'kapis', ...headers },
        ...(signal === undefined ? {} : { signal }),
      },
      async res => {
        try {
          const chunks: Buffer[] = []
          let size = 0
          for await (const chunk of res) {
            size += chunk.length
            if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`)
            chunks.push(chunk)
          }
          const status = res.statusCode ?? 500
          const isEmpty = status === 204 || status === 304 || status < 200
          const answered = Object.entries(res.headers).flatMap(([name, values]) =>
            [values ?? []].flat().map((value): [string, string] => [name, value]),
          )
          resolve(new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers: answered }))
        } catch (error) {
          req.destroy()
          reject(error)
        }
      },
    )
    req.on('error', reject)
    req.end(body)
    return promise
  }
}
