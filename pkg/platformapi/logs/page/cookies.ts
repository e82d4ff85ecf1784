import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Both cookies are limited to /logs and TLS, and scripts cannot read them. `token` is never sent
 * with cross-site requests; `begun` must be, when an identity provider redirects back.
 */
const cookies = {
  token: { name: '__Secure-kapis-logs', sameSite: 'Strict' },
  begun: { name: '__Secure-kapis-logs-login', sameSite: 'Lax' },
} as const

export type CookieKind = keyof typeof cookies

/** @returns undefined if the cookie is missing or given more than once */
export function readCookie(req: IncomingMessage, kind: CookieKind): string | undefined {
  const { name } = cookies[kind]
  const found = (req.headers.cookie ?? '')
    .split(/; */)
    .filter(pair => pair.startsWith(`${name}=`))
    .map(pair => pair.slice(name.length + 1))
  return found.length === 1 && found[0] !== '' ? found[0] : undefined
}

/** @param value characters that need no encoding in a cookie: base64url and dots */
export function setCookie(res: ServerResponse, kind: CookieKind, value: string, maxAgeSeconds: number): void {
  const { name, sameSite } = cookies[kind]
  const attributes = `Path=/logs; Secure; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAgeSeconds}`
  res.appendHeader('set-cookie', `${name}=${value}; ${attributes}`)
}

export function clearCookie(res: ServerResponse, kind: CookieKind): void {
  setCookie(res, kind, '', 0)
}
