import type { Request } from 'express'
import type { RedirectProvider } from '../../iam/identityprovider/external-identity.ts'
import { endpointBase } from '../server/endpoint-base.ts'
import type { GrantTools } from '../tokens/grant.ts'
import { readIdToken } from './id-token-cookie.ts'
import type { BrowserLogin } from './session.ts'

const lifeSeconds = 600

type Tools = Pick<GrantTools, 'providers' | 'internalJwts'>

/**
 * How to log a browser out at the provider of its login; undefined without a provider, or if it is
 * not configured.
 */
export function findLogoutUrl({ providers }: Tools, provider: string): RedirectProvider['logoutUrl'] {
  const client = provider === '' ? undefined : providers.store.get(provider)?.client
  return client?.kind === 'redirect' ? client.logoutUrl : undefined
}

/**
 * Redirects a browser after its logout to the identity provider, to log out there too (OpenID
 * Connect RP-Initiated Logout). The provider redirects back to the logged-out page, which continues
 * to `target`, a validated URI of the client: the state is signed.
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

/** Returns where a browser continues after a logout at the provider; undefined if nowhere. */
export async function readLogoutTarget({ internalJwts }: Tools, state: string): Promise<string | undefined> {
  const target = (await internalJwts.verify('provider-logout', state))?.target
  return typeof target === 'string' && target !== '' ? target : undefined
}
