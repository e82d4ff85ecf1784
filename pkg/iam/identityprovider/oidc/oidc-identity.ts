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
 * @throws Status if the provider has omitted the groups, or they are not a list of strings
 */
export function toIdentity(keys: Keys, claims: Claims, sub: string): Identity {
  const { emailKey, preferredUsernameKey, groupsKey } = keys
  const text = (key: string) => {
    const value = readClaim(claims, key)
    return typeof value === 'string' ? value : ''
  }
  const isUnverified = emailKey === 'email' && !isVerified(claims.email_verified)
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
 * Reports whether an e-mail address is verified. Some providers send booleans as text (`True`); others
 * omit the claim and only return addresses that they have assigned. Any other value means no.
 */
function isVerified(claim: unknown): boolean {
  return claim === undefined || String(claim).toLowerCase() === 'true'
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
  const groups: readonly unknown[] = value === undefined ? [] : [value].flat()
  const sign = groups.length === 0 ? findOverage(claims, key) : undefined
  if (sign !== undefined)
    throw loginError(
      'provider_groups_incomplete',
      'the identity provider omitted the groups of this account: there are too many',
      new Error(
        `the claim ${key} is ${printValue(value)}, but the token has ${sign}: configure the provider to send fewer groups`,
      ),
    )
  if (value === undefined) return 'unknown'
  if (groups.every(group => typeof group === 'string')) return groups
  throw loginError(
    'provider_groups_invalid',
    'the identity provider returned the groups of this account in an unknown format',
    new Error(`invalid claim ${key}: expected a list of strings, got ${shapeOf(value)}; see groupsKey`),
  )
}

/**
 * Returns the claim which indicates that the provider has too many groups for the token: a
 * distributed claim (OpenID Connect Core section 5.6.2), or what Microsoft Entra ID and AD FS send
 * in its place.
 */
function findOverage(claims: Claims, key: string): string | undefined {
  const { _claim_names: names, hasgroups } = claims
  const roots = [key, key.split('.')[0] ?? '']
  const named = roots.find(name => isRecord(names) && Object.hasOwn(names, name))
  if (named !== undefined) return `_claim_names.${named}`
  if (key === 'groups' && String(hasgroups).toLowerCase() === 'true') return 'hasgroups'
  // `groups:src1` has the address of the groups; `….groups.link` does in tokens converted from SAML.
  return Object.keys(claims).find(
    name =>
      name.startsWith(`${key}:src`) || /^https?:\/\/schemas\.microsoft\.com\/.*groups\.link$/.test(name),
  )
}

function shapeOf(value: unknown): string {
  if (!Array.isArray(value)) return `${printValue(value)} (${typeof value})`
  const other = value.find(each => typeof each !== 'string')
  return `a list with ${printValue(other)} (${typeof other})`
}

function printValue(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 256)
}
