import type { IncomingMessage } from 'node:http'
import type { Response } from 'express'

/**
 * Cookies with the `__Host-` prefix (RFC 6265bis section 4.1.3.2): the browser takes them from this very host over TLS alone,
 * so that neither a neighbouring domain nor someone on the wire can plant one (session fixation, login CSRF).
 */
export type CookieName = `__Host-${string}`

export type CookieOptions = {
  /** Lax, since clients send the browser here from their own sites; what changes anything is a POST, and needs a token. */
  readonly sameSite?: 'Lax' | 'Strict'
  /** Until the browser is closed without it. */
  readonly maxAgeSeconds?: number
}

/** @returns undefined without one, and for one that is there twice, since nobody could say which is meant */
export function readCookie(req: IncomingMessage, name: CookieName): string | undefined {
  const found = (req.headers.cookie ?? '')
    .split(/; */)
    .filter(pair => pair.startsWith(`${name}=`))
    .map(pair => pair.slice(name.length + 1))
  return found.length === 1 ? found[0] : undefined
}

/** @param value of characters that a cookie may have as they are: base64url and dots */
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
