import type { AuthenticationMethods } from '../../../jwt/authentication-methods.ts'
import { isRecord } from '../../../kubeclient/object/object.ts'
import type { Identity } from '../external-identity.ts'
import { loginError } from '../linking/login-error.ts'
import type { OidcConfig } from './oidc-config.ts'

type Claims = Readonly<Record<string, unknown>>
type Keys = Pick<OidcConfig, 'emailKey' | 'preferredUsernameKey' | 'groupsKey'>

/**
 * Returns the account that the claims of ID token and userinfo describe.
 *
 * @throws Status if the groups are missing or not a list of strings
 */
export function toIdentity(keys: Keys, claims: Claims, sub: string): Identity {
  const { emailKey, preferredUsernameKey, groupsKey } = keys
  const text = (key: string) => {
    const value = readClaim(claims, key)
    return typeof value === 'string' ? value : ''
  }
  // Some providers send booleans as strings.
  const isUnverified = emailKey === 'email' && String(claims.email_verified) === 'false'
  return {
    uid: sub,
    username:
      preferredUsernameKey === '' ? text('preferred_username') || text('name') : text(preferredUsernameKey),
    email: isUnverified ? '' : text(emailKey),
    displayName: text('name'),
    groups: groupsKey === '' ? undefined : readGroupsClaim(claims, groupsKey),
  }
}

/**
 * Returns the authentication methods if the ID token asserts a second factor (RFC 8176 section 2:
 * `mfa`). Names of single methods do not show how many factors there were.
 */
export function toMethods(amr: unknown): AuthenticationMethods {
  return Array.isArray(amr) && amr.includes('mfa') ? 'mfa' : ''
}

/**
 * Returns the claim for a key. A claim with exactly this name takes precedence, since names may
 * contain dots (`https://example.com/groups`). Otherwise the key is a path in objects
 * (`realm_access.roles`).
 */
export function readClaim(claims: Claims, key: string): unknown {
  if (Object.hasOwn(claims, key)) return claims[key]
  for (let dot = key.indexOf('.'); dot >= 0; dot = key.indexOf('.', dot + 1)) {
    const name = key.slice(0, dot)
    const inner = Object.hasOwn(claims, name) ? claims[name] : undefined
    const found = isRecord(inner) ? readClaim(inner, key.slice(dot + 1)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function readGroupsClaim(claims: Claims, key: string): Identity['groups'] {
  const value = readClaim(claims, key) ?? undefined
  if (value === undefined) {
    if (!isDelegated(claims, key)) return 'unknown'
    throw loginError(
      'provider_groups_incomplete',
      'the identity provider omitted the groups of this account: there are too many',
      new Error(
        `the claim ${key} is missing (_claim_names, hasgroups): configure the provider to send fewer groups`,
      ),
    )
  }
  const groups: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (groups.every(group => typeof group === 'string')) return groups
  throw loginError(
    'provider_groups_invalid',
    'the identity provider returned the groups of this account in an unknown format',
    new Error(`the claim ${key} must be a list of strings, not ${shapeOf(value)}; see groupsKey`),
  )
}

/**
 * Reports whether a claim is a distributed claim (OpenID Connect Core section 5.6.2), which
 * Microsoft Entra ID uses for too many groups.
 */
function isDelegated(claims: Claims, key: string): boolean {
  const { _claim_names: names, hasgroups } = claims
  const isNamed = isRecord(names) && [key, key.split('.')[0] ?? ''].some(name => Object.hasOwn(names, name))
  return isNamed || (key === 'groups' && String(hasgroups) === 'true')
}

function shapeOf(value: unknown): string {
  if (!Array.isArray(value)) return typeof value
  return `a list with ${typeof value.find(each => typeof each !== 'string')}`
}
