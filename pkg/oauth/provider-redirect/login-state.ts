import { createHash, randomBytes } from 'node:crypto'
import type { CookieOptions, Request, Response } from 'express'
import type { Transaction } from '../../iam/identity-provider/identity.ts'
import type { Statements } from '../../token/statement.ts'

/** A login that the browser was sent to a provider with, and where it goes on when it comes back. */
export type LoginState = {
  readonly provider: string
  readonly transaction: Transaction
  readonly clientId: string
  readonly scope: string
}

const lifeSeconds = 600

export function newTransaction(redirectUri: string): Transaction {
  const random = () => randomBytes(32).toString('base64url')
  return { state: random(), nonce: random(), codeVerifier: random(), redirectUri }
}

/**
 * Hands the state to the browser that begins the login, signed, for ten minutes. Only this browser can finish it: whoever
 * makes another one open the callback, with a code of his own, finds no state there (login CSRF, RFC 6749 section 10.12,
 * RFC 9700 section 4.7). There is a cookie for each login, so that two windows do not disturb each other. SameSite is
 * Lax, since the way back is a navigation from the provider's site.
 */
export async function keepState(
  { req, res, statements }: { req: Request; res: Response; statements: Statements },
  state: LoginState,
): Promise<void> {
  const { provider, clientId, scope, transaction } = state
  const claims = {
    idp: provider,
    client_id: clientId,
    scope,
    state: transaction.state,
    nonce: transaction.nonce,
    verifier: transaction.codeVerifier,
    redirect: transaction.redirectUri,
  }
  const value = await statements.sign('provider-login', claims, { lifeSeconds })
  res.cookie(cookieName(req, transaction.state), value, { ...cookieOptions(req), maxAge: lifeSeconds * 1000 })
}

/** The state that a callback says to belong to, and takes away with it. Undefined when this browser has none, or none any more. */
export async function takeState(
  { req, res, statements }: { req: Request; res: Response; statements: Statements },
  given: string,
): Promise<LoginState | undefined> {
  const name = cookieName(req, given)
  const value = readCookie(req, name)
  if (value === undefined) return undefined
  res.clearCookie(name, cookieOptions(req))
  const claims = await statements.verify('provider-login', value)
  if (claims === undefined) return undefined
  const text = (key: string) => (typeof claims[key] === 'string' ? claims[key] : '')
  // The name of the cookie says so already; what is signed decides.
  if (text('state') !== given) return undefined
  return {
    provider: text('idp'),
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

/** The prefix keeps other hosts of the domain from setting it (RFC 6265bis section 4.1.3.2); browsers want TLS for that. */
function cookieName(req: Request, state: string): string {
  const digest = createHash('sha256').update(state).digest('hex').slice(0, 16)
  return `${isSecure(req) ? '__Host-' : ''}kapis-provider-login-${digest}`
}

function cookieOptions(req: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure(req) }
}

/** The front says how it was reached; it is the only one that this socket is for. */
function isSecure(req: Request): boolean {
  return req.headers['x-forwarded-proto'] === 'https'
}

function readCookie(req: Request, name: string): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name) return value
  }
  return undefined
}
