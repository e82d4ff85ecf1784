import type { Cookie } from '../../../httpserver/cookie.ts'

/** The cookie with the access token of the page, not sent with cross-site requests. */
export const tokenCookie: Cookie = { name: '__Secure-kapis-logs', sameSite: 'Strict', path: '/logs' }

/** The cookie with the state of a login, also sent when a provider redirects back. */
export const loginStateCookie: Cookie = { name: '__Secure-kapis-logs-login', sameSite: 'Lax', path: '/logs' }
