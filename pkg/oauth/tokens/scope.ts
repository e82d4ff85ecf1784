import { isReadOnly, readScope } from '../../jwt/online-audience.ts'
import { oauthError } from '../server/error.ts'

/**
 * The supported scopes; others are not granted. `offline_access` is not supported: the registration
 * of a client decides on refresh tokens, and logins do not end with the browser session.
 */
export const supportedScopes: readonly string[] = ['openid', 'profile', 'email']

// RFC 6749 section 3.3: printable ASCII without quote and backslash, separated by single spaces.
const syntax = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/
const maxLength = 1024

type ScopeRestricted = { readonly scopeRestrictions: readonly string[] }

/**
 * Returns the granted part of a requested scope. `read` is rejected instead of ignored, since it
 * restricts a token: the client would get a token with all permissions of its user.
 *
 * @throws Status invalid_scope if the scope is malformed or includes `read`
 */
export function grantScope(requested: string | undefined, client: ScopeRestricted): string {
  const scopes = parseScope(requested)
  if (scopes.includes(readScope))
    throw oauthError(
      400,
      'invalid_scope',
      'the scope read is only for personal access tokens and token exchange',
    )
  const allowed = client.scopeRestrictions
  const isGranted = (scope: string) =>
    supportedScopes.includes(scope) && (allowed.length === 0 || allowed.includes(scope))
  return scopes.filter(isGranted).join(' ')
}

/** Splits a scope. @throws Status invalid_scope if it is malformed */
function parseScope(requested: string | undefined): readonly string[] {
  if (requested === undefined) return []
  if (requested.length > maxLength || !syntax.test(requested))
    throw oauthError(400, 'invalid_scope', 'the parameter scope is malformed')
  return [...new Set(requested.split(' '))]
}

/**
 * Returns the scope of an exchanged token. It is read-only if the client requests `read`, or if
 * `mustBeRead` is true. Its OpenID Connect scopes are limited to those of a subject token of Kapis.
 *
 * @param granted the scope of the subject token; undefined for a token of another issuer
 * @throws Status invalid_scope if the scope is malformed, or exceeds `granted`
 */
export function exchangeScope(
  requested: string | undefined,
  client: ScopeRestricted,
  { granted, mustBeRead }: { readonly granted: string | undefined; readonly mustBeRead: boolean },
): string {
  const scopes = parseScope(requested)
  const others = scopes.filter(scope => scope !== readScope).join(' ') || undefined
  const known = ofOpenId(granted ?? '')
  const openId =
    granted === undefined
      ? grantScope(others, client)
      : narrowScope(known, others ?? (known || undefined), client)
  const isRead = mustBeRead || scopes.includes(readScope) || isReadOnly(granted ?? '')
  return [openId, isRead ? readScope : ''].filter(scope => scope !== '').join(' ')
}

function ofOpenId(scope: string): string {
  return scope
    .split(' ')
    .filter(each => supportedScopes.includes(each))
    .join(' ')
}

/**
 * Returns the scope of a further access token of a login, limited to the scope of the login (RFC
 * 6749 section 6). A scope is never narrowed to an empty one, since a token without a scope has
 * every claim.
 *
 * @throws Status invalid_scope
 */
export function narrowScope(granted: string, requested: string | undefined, client: ScopeRestricted): string {
  if (requested === undefined) return granted
  const narrowed = grantScope(requested, client)
  const allowed = granted.split(' ')
  const isWider = narrowed.split(' ').some(scope => scope !== '' && !allowed.includes(scope))
  if (isWider || (narrowed === '' && granted !== ''))
    throw oauthError(400, 'invalid_scope', 'the parameter scope exceeds the scope of the login')
  return narrowed
}
