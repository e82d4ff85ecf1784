import { createAgent } from '../../http/pool.ts'
import type { ProxyFor } from '../../http/proxy-environment.ts'

/** Posts a logout token and returns the status of the response. @throws Error without a response */
export type PostLogoutToken = (uri: string, token: string) => Promise<number>

// The body is discarded; the connection of a larger body is closed instead of reused.
const maxBodyBytes = 16 * 1024

/**
 * Posts logout tokens (OpenID Connect Back-Channel Logout 1.0 section 2.5), through the proxies of
 * the environment variables. Redirects are not followed, since the token is only for the configured
 * URI.
 */
export function createPostLogoutToken({
  timeoutMs = 5_000,
  proxyFor,
}: {
  readonly timeoutMs?: number
  readonly proxyFor?: ProxyFor
} = {}): PostLogoutToken {
  const agent = createAgent(
    {},
    {
      ...{ connections: 4, connectMs: timeoutMs, headMs: timeoutMs, bodyMs: timeoutMs, idleMs: 4_000 },
      maxHeadBytes: 16 * 1024,
    },
    proxyFor,
  )
  return async (uri, token) => {
    const { origin, pathname, search } = new URL(uri)
    const signal = AbortSignal.timeout(timeoutMs)
    const { statusCode, body } = await agent.request({
      ...{ origin, path: `${pathname}${search}`, method: 'POST', signal },
      headers: { 'user-agent': 'kapis', 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams({ logout_token: token })),
    })
    // Errors while the body is read are ignored: only the status matters.
    await body.dump({ limit: maxBodyBytes, signal }).catch(() => undefined)
    return statusCode
  }
}
