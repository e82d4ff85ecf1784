import type { Cookie } from '../../../httpserver/cookie.ts'

/** The access token of the page; never sent with cross-site requests. */
export const tokenCookie: Cookie = { name: '__Secure-kapis-logs', sameSite: 'Strict', path: '/logs' }

/**
 * The state of a login in progress; the browser sends it when an identity provider redirects back.
 */
export const begunCookie: Cookie = { name: '__Secure-kapis-logs-login', sameSite: 'Lax', path: '/logs' }
