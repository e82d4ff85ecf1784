import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Both cookies are sent below /logs alone, by this browser over TLS alone, and no script can read them. `token` never goes
 * along with what another site begins; `begun` has to, when the login comes back from an identity provider.
 */
const cookies = {
  token: { name: '__Secure-kapis-logs', sameSite: 'Strict' },
  begun: { name: '__Secure-kapis-logs-login', sameSite: 'Lax' },
} as const

export type CookieKind = keyof typeof cookies

/** @returns undefined without one, and for one that is there twice, since nobody could say which is meant */
export function readCookie(req: IncomingMessage, kind: CookieKind): string | undefined {
  const { name } = cookies[kind]
  const found = (req.headers.cookie ?? '')
    .split(/; */)
    .filter(pair => pair.startsWith(`${name}=`))
    .map(pair => pair.slice(name.length + 1))
  return found.length === 1 && found[0] !== '' ? found[0] : undefined
}

/** @param value of characters that a cookie may have as they are: base64url and dots */
export function setCookie(res: ServerResponse, kind: CookieKind, value: string, maxAgeSeconds: number): void {
  const { name, sameSite } = cookies[kind]
  const attributes = `Path=/logs; Secure; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAgeSeconds}`
  res.appendHeader('set-cookie', `${name}=${value}; ${attributes}`)
}

export function clearCookie(res: ServerResponse, kind: CookieKind): void {
  setCookie(res, kind, '', 0)
}
