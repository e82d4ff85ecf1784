import { createHash, randomBytes } from 'node:crypto'
import type { Request, Response } from 'express'
import { type Cookie, clearCookie, fitsInCookie, readCookie, setCookie } from '../../httpserver/cookie.ts'
import type { Transaction } from '../../iam/identityprovider/external-identity.ts'
import type { InternalJwts } from '../../jwt/internal-jwt.ts'
import { invalidRequest } from '../server/error.ts'

/** The state of a login at a provider: how to verify the response, where to continue. */
export type LoginState = {
  readonly provider: string
  readonly transaction: Transaction
  /** The path to redirect the browser to; '' if a client receives tokens instead. */
  readonly returnTo: string
  /** The client that receives tokens; '' if the browser is redirected to `returnTo`. */
  readonly clientId: string
  readonly scope: string
}

const lifeSeconds = 600

export function newTransaction(redirectUri: string): Transaction {
  const random = () => randomBytes(32).toString('base64url')
  return { state: random(), nonce: random(), codeVerifier: random(), redirectUri }
}

/**
 * Stores the state in a signed cookie of the browser, for ten minutes. Only this browser can
 * complete the login: a callback with the code of an attacker finds no state in the browser of a
 * victim (login CSRF, RFC 6749 section 10.12, RFC 9700 section 4.7). Each login has its own cookie,
 * so that two windows do not interfere. SameSite is Lax, since the provider redirects from another
 * site.
 *
 * @throws Status invalid_request if the state is too large for a cookie
 */
export async function keepState(internalJwts: InternalJwts, res: Response, state: LoginState): Promise<void> {
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
  const value = await internalJwts.sign('provider-login', claims, { lifeSeconds })
  const cookie = cookieOf(transaction.state)
  if (!fitsInCookie(cookie, value, lifeSeconds))
    throw invalidRequest('the authorization request is too long for a login with an identity provider', {
      why: 'request_too_long',
    })
  setCookie(res, cookie, value, lifeSeconds)
}

/** Returns and deletes the state of a callback; undefined if this browser has none. */
export async function takeState(
  internalJwts: InternalJwts,
  { req, res }: { req: Request; res: Response },
  state: string,
): Promise<LoginState | undefined> {
  const cookie = cookieOf(state)
  const value = readCookie(req, cookie)
  if (value === undefined) return undefined
  clearCookie(res, cookie)
  const claims = await internalJwts.verify('provider-login', value)
  if (claims === undefined) return undefined
  const text = (key: string) => (typeof claims[key] === 'string' ? claims[key] : '')
  // The cookie name contains a hash of the state too, but only the signed value is trusted.
  if (text('state') !== state) return undefined
  return {
    provider: text('idp'),
    returnTo: text('return_to'),
    clientId: text('client_id'),
    scope: text('scope'),
    transaction: {
      state: state,
      nonce: text('nonce'),
      codeVerifier: text('verifier'),
      redirectUri: text('redirect'),
    },
  }
}

function cookieOf(state: string): Cookie {
  const digest = createHash('sha256').update(state).digest('hex').slice(0, 16)
  return { name: `__Host-kapis-provider-login-${digest}`, sameSite: 'Lax' }
}
