import type { IncomingMessage } from 'node:http'
import type { Response } from 'express'
import { type Cookie, clearCookie, fitsInCookie, readCookie, setCookie } from '../../httpserver/cookie.ts'

const cookie: Cookie = { name: '__Host-kapis-upstream-login', sameSite: 'Lax' }

/**
 * Stores the ID token of the identity provider in a cookie, to send it as id_token_hint at a
 * logout. Kapis does not accept it as a credential. A token that is too long is not stored: then
 * the provider asks the user for confirmation.
 */
export function keepIdToken(
  { req, res }: { req: IncomingMessage; res: Response },
  idToken: string | undefined,
): void {
  if (idToken !== undefined && /^[\w.-]+$/.test(idToken) && fitsInCookie(cookie, idToken))
    setCookie(res, cookie, idToken)
  // Removes the cookie of an earlier login.
  else if (readCookie(req, cookie) !== undefined) clearCookie(res, cookie)
}

export function readIdToken(req: IncomingMessage): string {
  return readCookie(req, cookie) ?? ''
}
