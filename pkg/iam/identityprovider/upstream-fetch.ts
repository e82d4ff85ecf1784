import { createAgent } from '../../http/pool.ts'
import type { ProxyFor } from '../../http/proxy-environment.ts'
import { readBody } from '../../http/read-body.ts'
import type { Trust } from './tls-config.ts'

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
const connections = {
  ...{ connections: 64, connectMs: 10_000, headMs: 60_000, bodyMs: 60_000, idleMs: 4_000 },
  maxHeadBytes: 64 * 1024,
}

/**
 * Returns a fetch() for identity providers that supports their CAs, unlike the global fetch. It
 * does not follow redirects, which could leak a token, and limits the size of responses.
 */
export function createUpstreamFetch({ ca, isVerified }: Trust, proxyFor?: ProxyFor): UpstreamFetch {
  const agent = createAgent(
    { rejectUnauthorized: isVerified, ...(ca === undefined ? {} : { ca }) },
    connections,
    proxyFor,
  )
  return async (url, { method = 'GET', headers = {}, body, signal }) => {
    const { origin, pathname, search } = new URL(url)
    const response = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method,
      headers: { 'user-agent': 'kapis', ...headers },
      body: body ?? null,
      ...(signal === undefined ? {} : { signal }),
    })
    const bytes = await readBody(response.body, maxBytes)
    const { statusCode: status } = response
    const isEmpty = status === 204 || status === 304
    const received = Object.entries(response.headers).flatMap(([name, values]) =>
      [values ?? []].flat().map((value): [string, string] => [name, value]),
    )
    return new Response(isEmpty ? null : bytes, { status, headers: received })
  }
}
