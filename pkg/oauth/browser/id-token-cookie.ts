import type { IncomingMessage } from 'node:http'
import type { Response } from 'express'
import { type CookieName, clearCookie, readCookie, setCookie } from './cookie.ts'

const cookie: CookieName = '__Host-kapis-upstream-login'
// Browsers limit a cookie to 4 KB, including its name and attributes.
const maxLength = 3_500

/**
 * Stores the ID token of the identity provider in a cookie of its user, to send it as id_token_hint
 * at a logout. Kapis does not accept it as a credential. If it is too long it is not stored, and
 * the provider asks the user for confirmation.
 */
export function keepIdToken(
  { req, res }: { req: IncomingMessage; res: Response },
  idToken: string | undefined,
): void {
  if (idToken !== undefined && idToken.length <= maxLength && /^[\w.-]+$/.test(idToken))
    setCookie(res, cookie, idToken)
  // Removes the cookie of an earlier login.
  else if (readCookie(req, cookie) !== undefined) clearCookie(res, cookie)
}

export function readIdToken(req: IncomingMessage): string {
  return readCookie(req, cookie) ?? ''
}
