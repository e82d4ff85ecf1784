import type { ClientConfig } from '../../config/sections/client.ts'
import type { GrantTools } from '../tokens/grant.ts'
import type { AuthorizeRequest } from './request.ts'

/**
 * Whether the user has to be asked. Once he has allowed a client something, he is not asked again while a login of his at
 * that client lasts. Of a public client nobody knows whether it is the same again (RFC 6749 section 10.2): he is always asked.
 */
export async function needsConsent(
  { sessions }: Pick<GrantTools, 'sessions'>,
  client: ClientConfig,
  { scope, prompts, user }: Pick<AuthorizeRequest, 'scope' | 'prompts'> & { readonly user: string },
): Promise<boolean> {
  if (prompts.has('consent')) return true
  if (client.grantMethod === 'auto') return false
  if (client.public) return true
  const wanted = scope.split(' ').filter(name => name !== '')
  const logins = await sessions.list(user)
  return !logins.some(
    ({ type, ended, clientId, expiresAtMs, scope: granted }) =>
      type === '' &&
      ended === '' &&
      clientId === client.name &&
      expiresAtMs > Date.now() &&
      wanted.every(name => granted.split(' ').includes(name)),
  )
}
