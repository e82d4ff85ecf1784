import type { Request } from 'express'
import type { RedirectProvider } from '../../iam/identityprovider/external-identity.ts'
import { endpointBase } from '../server/endpoint-base.ts'
import type { GrantTools } from '../tokens/grant.ts'
import { readIdToken } from './id-token-cookie.ts'
import type { BrowserLogin } from './session.ts'

const lifeSeconds = 600

type Tools = Pick<GrantTools, 'providers' | 'internalJwts'>

/**
 * Returns the function that builds the logout URL of an identity provider; undefined for a local
 * login, or if the provider has no logout configured.
 */
export function findLogoutUrl({ providers }: Tools, provider: string): RedirectProvider['logoutUrl'] {
  const client = provider === '' ? undefined : providers.store.get(provider)?.client
  return client?.kind === 'redirect' ? client.logoutUrl : undefined
}

/**
 * Returns the URL that logs a browser out at its identity provider too (OpenID Connect RP-Initiated
 * Logout); undefined if the provider has none. The provider redirects back to the logged-out page,
 * which continues to `target`, a validated URI of the client. A signed state carries the target.
 */
export async function toUpstreamLogout(
  { tools, issuer, req }: { readonly tools: Tools; readonly issuer: string; readonly req: Request },
  { provider }: Pick<BrowserLogin, 'provider'>,
  target: string | undefined,
): Promise<string | undefined> {
  const logoutUrl = findLogoutUrl(tools, provider)
  if (logoutUrl === undefined) return undefined
  const state = await tools.internalJwts.sign('provider-logout', { target: target ?? '' }, { lifeSeconds })
  return logoutUrl({ returnUri: `${endpointBase(issuer)}/logged-out`, state, idToken: readIdToken(req) }).href
}

/** Returns the `target` of a signed state; undefined if the state is invalid or has none. */
export async function readLogoutTarget({ internalJwts }: Tools, state: string): Promise<string | undefined> {
  const target = (await internalJwts.verify('provider-logout', state))?.target
  return typeof target === 'string' && target !== '' ? target : undefined
}
