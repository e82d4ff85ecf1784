import type { Identity } from '../../iam/identityprovider/external-identity.ts'
import type { PendingRegistration } from '../../iam/identityprovider/linking/account-linking.ts'
import type { InternalJwt, InternalJwts } from '../../jwt/internal-jwt.ts'
import type { ProviderTools } from '../provider-login.ts'

const lifeSeconds = 600

/**
 * Issues a ticket with the account data of the provider, for a hidden field of the registration
 * page. It is signed, and becomes invalid once the account has a user.
 */
export function issueRegistrationTicket(
  internalJwts: InternalJwts,
  { config, identity, wants }: PendingRegistration,
): Promise<string> {
  const { uid, username, email, displayName, groups, amr = '', idToken = '' } = identity
  const person = { uid, username, email, name: displayName, amr, id_token: idToken }
  const reported = groups === undefined ? {} : { groups: JSON.stringify(groups) }
  return internalJwts.sign('newcomer', { idp: config.name, wants, ...person, ...reported }, { lifeSeconds })
}

/** @returns undefined for an invalid ticket, or if its provider no longer allows it */
export async function readRegistrationTicket(
  { internalJwts, providers }: { readonly internalJwts: InternalJwts; readonly providers: ProviderTools },
  ticket: string,
  wants: PendingRegistration['wants'],
): Promise<PendingRegistration | undefined> {
  const claims = await internalJwts.verify('newcomer', ticket)
  if (claims === undefined || claims.wants !== wants) return undefined
  const config = providers.store.get(String(claims.idp))?.config
  if (config === undefined) return undefined
  const { mappingMethod, disableLoginConfirmation } = config
  const isOffered =
    wants === 'link' ? mappingMethod === 'manual' : mappingMethod === 'auto' && !disableLoginConfirmation
  return isOffered ? { config, identity: toIdentity(claims), wants } : undefined
}

function toIdentity(claims: InternalJwt): Identity {
  const text = (key: string) => (typeof claims[key] === 'string' ? claims[key] : '')
  const idToken = text('id_token')
  return {
    uid: text('uid'),
    username: text('username'),
    email: text('email'),
    displayName: text('name'),
    amr: text('amr'),
    groups: claims.groups === undefined ? undefined : JSON.parse(text('groups')),
    ...(idToken === '' ? {} : { idToken }),
  }
}
