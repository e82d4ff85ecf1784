import type { IncomingMessage } from 'node:http'
import type { Response } from 'express'
import { type CookieName, clearCookie, readCookie, setCookie } from './cookie.ts'

const cookie: CookieName = '__Host-kapis-upstream-login'
// Browsers keep 4 KB of a cookie, its name and attributes among them.
const maxLength = 3_500

/**
 * Leaves the identity provider's ID token with the browser whose person it is about, so that it can be shown to the provider
 * at the logout. It is no credential of ours. One that is too long is not kept: the provider then asks the person.
 */
export function keepIdToken(
  { req, res }: { req: IncomingMessage; res: Response },
  idToken: string | undefined,
): void {
  if (idToken !== undefined && idToken.length <= maxLength && /^[\w.-]+$/.test(idToken))
    setCookie(res, cookie, idToken)
  // What an earlier login has left must not be taken for this one's.
  else if (readCookie(req, cookie) !== undefined) clearCookie(res, cookie)
}

export function readIdToken(req: IncomingMessage): string {
  return readCookie(req, cookie) ?? ''
}
