import { Provider } from 'oidc-provider'
import { startTlsServer } from './tls-server.ts'
import type { Page, UserAgent } from './user-agent.ts'

export type Account = {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly name?: string
  readonly preferred_username?: string
  readonly groups?: readonly string[]
}

export const upstreamClient = { clientID: 'kapis-at-upstream', clientSecret: 'upstream secret' }

/**
 * Starts a certified OpenID provider with its own login and consent pages, which accepts any
 * account name.
 */
export async function startOpenIdProvider(redirectUris: readonly string[], accounts: readonly Account[]) {
  const people = new Map(accounts.map(account => [account.sub, account]))
  const server = await startTlsServer(url => {
    const provider = new Provider(url, {
      clients: [
        {
          client_id: upstreamClient.clientID,
          client_secret: upstreamClient.clientSecret,
          redirect_uris: [...redirectUris],
          post_logout_redirect_uris: redirectUris.map(uri =>
            uri.replace(/\/callback\/[^/]+$/, '/logged-out'),
          ),
          response_types: ['code'],
          grant_types: ['authorization_code'],
        },
      ],
      cookies: { keys: ['only for tests'] },
      claims: {
        openid: ['sub'],
        profile: ['name', 'preferred_username'],
        email: ['email', 'email_verified'],
        groups: ['groups'],
      },
      scopes: ['openid', 'profile', 'email', 'groups'],
      conformIdTokenClaims: false,
      pkce: { required: () => true },
      findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ ...people.get(id), sub: id }) }),
    })
    return provider.callback()
  })
  return {
    ...server,
    change: (account: Account) => void people.set(account.sub, account),
  }
}

/**
 * Enters the account name and gives consent. Stops at the redirect for which `until` returns true.
 */
export async function logInUpstream(
  agent: UserAgent,
  page: Page,
  sub: string,
  until: (url: URL) => boolean = () => false,
): Promise<Page> {
  const consent = await agent.submit(page, { prompt: 'login', login: sub, password: 'any' }, until)
  return /name="prompt" value="consent"/.test(consent.body)
    ? agent.submit(consent, { prompt: 'consent' }, until)
    : consent
}
