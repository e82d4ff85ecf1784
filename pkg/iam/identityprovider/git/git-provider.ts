import type { Configuration } from 'openid-client'
import { nextLink } from '../../../http/next-link.ts'
import { exchangeCode, toAuthorizationUrl, toClient, toProviderError } from '../code-flow.ts'
import type { Identity, RedirectProvider } from '../external-identity.ts'
import { loginError } from '../linking/login-error.ts'
import type { AppConfig } from '../oauth-app-config.ts'
import { createUpstreamFetch, type UpstreamFetch } from '../upstream-fetch.ts'
import { withDeadline } from '../with-deadline.ts'
import type { GitConfig } from './git-config.ts'

/** Calls the API of the provider with the token of the user who has just logged in. */
export type Api = {
  readonly read: (url: string) => Promise<unknown>
  /** Fetches all pages of a list (RFC 8288). @throws Status if too many; Error of other servers */
  readonly readAll: (url: string) => Promise<readonly unknown[]>
}

const maxPages = 20

/** Reports whether a value is a number that JSON parsing has not rounded: others could be equal. */
export function isAccountId(id: unknown): id is number {
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0
}

/**
 * Creates a provider for GitHub or GitLab: OAuth with PKCE and state, then requests to their API,
 * since they issue no ID token.
 *
 * @param identify returns the account, with those of its groups that are configured
 */
export function createGitProvider(
  config: GitConfig,
  identify: (api: Api, config: GitConfig) => Promise<Identity>,
): RedirectProvider {
  const fetch = createUpstreamFetch(config.trust)
  const client = toOAuthClient(config, fetch)

  return {
    kind: 'redirect',
    redirectUrl: config.redirectUrl,
    begin: (transaction, _signal, prompt) => toAuthorizationUrl(client, transaction, config.scopes, prompt),
    async finish(callback, transaction, outer) {
      try {
        return await withDeadline(config.timeoutMs, outer, async signal => {
          const { access_token: token } = await exchangeCode(client, callback, transaction)
          const identity = await identify(createApi({ fetch, token, signal }), config)
          if (config.memberOf.length > 0 && identity.groups?.length === 0)
            throw loginError('not_a_member', 'the account is not a member of a group that may log in')
          return identity
        })
      } catch (error) {
        throw toProviderError(error)
      }
    },
  }
}

function toOAuthClient(config: AppConfig, fetch: UpstreamFetch): Configuration {
  const { authURL, tokenURL } = config.endpoint
  const server = {
    issuer: new URL(authURL).origin,
    authorization_endpoint: authURL,
    token_endpoint: tokenURL,
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  }
  return toClient(server, config, async (url, init) => {
    const response = await fetch(url, init)
    return url === tokenURL ? asOAuth(response) : response
  })
}

/** Converts errors of GitHub's token endpoint, which have status 200 and other codes. */
async function asOAuth(response: Response): Promise<Response> {
  const text = await response.text()
  const { status, headers } = response
  try {
    const { error } = JSON.parse(text) ?? {}
    if (status === 200 && typeof error === 'string') {
      const isCode = error === 'bad_verification_code'
      return Response.json({ error: isCode ? 'invalid_grant' : error }, { status: 400 })
    }
  } catch {
    // Invalid JSON: the caller rejects the response.
  }
  return new Response(text, { status, headers })
}

function createApi({
  fetch,
  token,
  signal,
}: {
  fetch: UpstreamFetch
  token: string
  signal: AbortSignal
}): Api {
  async function get(url: string): Promise<Response> {
    const headers = { accept: 'application/json', authorization: `Bearer ${token}` }
    const response = await fetch(url, { headers, signal })
    if (response.status !== 200) throw new Error(`${new URL(url).pathname} responded with ${response.status}`)
    return response
  }
  return {
    read: async url => (await get(url)).json(),
    async readAll(url) {
      const items: unknown[] = []
      let next: string | undefined = url
      for (let page = 0; next !== undefined; page++) {
        if (page >= maxPages)
          throw loginError(
            'provider_groups_incomplete',
            'the identity provider returned too much data about this account',
            new Error(`${new URL(url).pathname} has more than ${maxPages} pages`),
          )
        const response: Response = await get(next)
        const list: unknown = await response.json()
        if (!Array.isArray(list))
          throw new Error(`${new URL(next).pathname} returned a response that is not a list`)
        items.push(...list)
        next = nextPage(response.headers.get('link'), next)
      }
      return items
    },
  }
}

/**
 * Returns the URL of the next page.
 *
 * @throws Error unless it is on the same server, since the request contains the token; without the
 * page, the user would silently have fewer groups
 */
function nextPage(link: string | null, current: string): string | undefined {
  const target = nextLink(link ?? '')
  if (target === undefined) return undefined
  const [url, { origin, pathname }] = [new URL(target, current), new URL(current)]
  if (url.origin === origin) return String(url)
  throw new Error(`the next page of ${pathname} is on ${url.origin}; expected ${origin}`)
}
