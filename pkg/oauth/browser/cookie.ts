import type { IncomingMessage } from 'node:http'
import type { Response } from 'express'

/**
 * Cookies with the `__Host-` prefix (RFC 6265bis section 4.1.3.2): browsers accept them only from
 * this host over TLS, so neither a sibling domain nor a network attacker can set one (session
 * fixation, login CSRF).
 */
export type CookieName = `__Host-${string}`

export type CookieOptions = {
  /**
   * Lax, since clients redirect the browser here from other sites. Changes require a POST with a
   * CSRF token.
   */
  readonly sameSite?: 'Lax' | 'Strict'
  /** Until the browser is closed without it. */
  readonly maxAgeSeconds?: number
}

/** @returns undefined if the cookie is missing or given more than once */
export function readCookie(req: IncomingMessage, name: CookieName): string | undefined {
  const found = (req.headers.cookie ?? '')
    .split(/; */)
    .filter(pair => pair.startsWith(`${name}=`))
    .map(pair => pair.slice(name.length + 1))
  return found.length === 1 ? found[0] : undefined
}

/** @param value characters that need no encoding in a cookie: base64url and dots */
export function setCookie(
  res: Response,
  name: CookieName,
  value: string,
  { sameSite = 'Lax', maxAgeSeconds }: CookieOptions = {},
): void {
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
  res.append('set-cookie', `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=${sameSite}${age}`)
}

export function clearCookie(res: Response, name: CookieName): void {
  setCookie(res, name, '', { maxAgeSeconds: 0 })
}
