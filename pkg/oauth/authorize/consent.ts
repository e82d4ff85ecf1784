import type { ClientConfig } from '../../config/sections/client.ts'
import type { GrantTools } from '../tokens/grant.ts'
import type { AuthorizeRequest } from './request.ts'

/**
 * Reports whether the user must be asked for consent. A consent is valid while the user has a login
 * at this client. Users of a public client are always asked, since its identity cannot be verified
 * (RFC 6749 section 10.2).
 */
export async function needsConsent(
  { sessions }: Pick<GrantTools, 'sessions'>,
  client: ClientConfig,
  { scope, prompts, user }: Pick<AuthorizeRequest, 'scope' | 'prompts'> & { readonly user: string },
): Promise<boolean> {
  if (prompts.has('consent')) return true
  if (client.grantMethod === 'auto') return false
  if (client.public) return true
  const requested = scope.split(' ').filter(name => name !== '')
  const logins = await sessions.list(user)
  return !logins.some(
    ({ type, ended, clientId, expiresAtMs, scope: granted }) =>
      type === '' &&
      ended === '' &&
      clientId === client.name &&
      expiresAtMs > Date.now() &&
      requested.every(name => granted.split(' ').includes(name)),
  )
}
