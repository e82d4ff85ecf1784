import { createHash, randomBytes } from 'node:crypto'
import type { Request, Response } from 'express'
import type { Transaction } from '../../iam/identityprovider/external-identity.ts'
import type { Statements } from '../../jwt/internal-jwt.ts'
import { type CookieName, clearCookie, readCookie, setCookie } from '../browser/cookie.ts'
import { oauthError } from '../server/error.ts'

/** A login that the browser was sent to a provider with, and where it goes on when it comes back. */
export type LoginState = {
  readonly provider: string
  readonly transaction: Transaction
  /** Where the browser goes on, logged in; '' when it gets tokens instead. */
  readonly returnTo: string
  /** The client that the tokens are for; '' without any. */
  readonly clientId: string
  readonly scope: string
}

const lifeSeconds = 600
// Browsers drop what is longer, and say nothing of it.
const maxCookie = 4096

export function newTransaction(redirectUri: string): Transaction {
  const random = () => randomBytes(32).toString('base64url')
  return { state: random(), nonce: random(), codeVerifier: random(), redirectUri }
}

/**
 * Hands the state to the browser that begins the login, signed, for ten minutes. Only this browser can finish it: anyone who
 * makes another one open the callback, with a code of his own, finds no state there (login CSRF, RFC 6749 section 10.12,
 * RFC 9700 section 4.7). There is a cookie for each login, so that two windows do not disturb each other. SameSite is
 * Lax, since the way back is a navigation from the provider's site.
 *
 * @throws Status invalid_request for more than a cookie can hold
 */
export async function keepState(statements: Statements, res: Response, state: LoginState): Promise<void> {
  const { provider, returnTo, clientId, scope, transaction } = state
  const claims = {
    idp: provider,
    return_to: returnTo,
    client_id: clientId,
    scope,
    state: transaction.state,
    nonce: transaction.nonce,
    verifier: transaction.codeVerifier,
    redirect: transaction.redirectUri,
  }
  const value = await statements.sign('provider-login', claims, { lifeSeconds })
  const name = cookieName(transaction.state)
  if (name.length + value.length > maxCookie)
    throw oauthError(
      400,
      'invalid_request',
      'the authorization request is too long for a login with an identity provider',
      { why: 'request_too_long' },
    )
  setCookie(res, name, value, { maxAgeSeconds: lifeSeconds })
}

/** The state that a callback says to belong to, and takes away with it. Undefined when this browser has none, or none any more. */
export async function takeState(
  statements: Statements,
  { req, res }: { req: Request; res: Response },
  given: string,
): Promise<LoginState | undefined> {
  const name = cookieName(given)
  const value = readCookie(req, name)
  if (value === undefined) return undefined
  clearCookie(res, name)
  const claims = await statements.verify('provider-login', value)
  if (claims === undefined) return undefined
  const text = (key: string) => (typeof claims[key] === 'string' ? claims[key] : '')
  // The name of the cookie says so already; what is signed decides.
  if (text('state') !== given) return undefined
  return {
    provider: text('idp'),
    returnTo: text('return_to'),
    clientId: text('client_id'),
    scope: text('scope'),
    transaction: {
      state: given,
      nonce: text('nonce'),
      codeVerifier: text('verifier'),
      redirectUri: text('redirect'),
    },
  }
}

function cookieName(state: string): CookieName {
  const digest = createHash('sha256').update(state).digest('hex').slice(0, 16)
  return `__Host-kapis-provider-login-${digest}`
}
