import type { Cookie } from '../../../httpserver/cookie.ts'

/**
 * The cookie with the access token of the page. Browsers do not send it with cross-site requests.
 */
export const tokenCookie: Cookie = { name: '__Secure-kapis-logs', sameSite: 'Strict', path: '/logs' }

/**
 * The cookie with the state of a login in progress. Browsers send it when an identity provider
 * redirects back to Kapis.
 */
export const begunCookie: Cookie = { name: '__Secure-kapis-logs-login', sameSite: 'Lax', path: '/logs' }
