import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Response } from 'express'
import { type Cookie, readCookie, setCookie } from '../../httpserver/cookie.ts'
import { oauthError } from '../server/error.ts'
import type { Form } from '../server/form.ts'

const cookie: Cookie = { name: '__Host-kapis-form', sameSite: 'Lax' }
const syntax = /^[A-Za-z0-9_-]{43}$/
export const csrfField = 'csrf'

/** Returns the CSRF token for a form, which the browser also sends in a cookie. */
export function issueCsrfToken(req: IncomingMessage, res: Response): string {
  const known = readCookie(req, cookie)
  // All tabs share one token, so that opening a page does not invalidate the forms of other tabs.
  if (known !== undefined && syntax.test(known)) return known
  const token = randomBytes(32).toString('base64url')
  setCookie(res, cookie, token)
  return token
}

/**
 * Requires that a form was submitted by a page of Kapis. Checks the CSRF token and the headers
 * Origin and Sec-Fetch-Site.
 *
 * @param issuer its origin is accepted too, since a proxy may change the Host header
 * @throws Status invalid_request, 403
 */
export function requireOwnForm(req: IncomingMessage, form: Form, issuer: string): void {
  const expected = readCookie(req, cookie)
  const token = form.get(csrfField)
  const isSame =
    expected !== undefined &&
    syntax.test(expected) &&
    token?.length === expected.length &&
    timingSafeEqual(Buffer.from(token), Buffer.from(expected))
  if (isSame && isFromHere(req, issuer)) return
  throw oauthError(
    403,
    'invalid_request',
    'the form did not come from this browser: allow cookies, go back, reload the page and try again',
    { why: 'foreign_form' },
  )
}

function isFromHere({ headers }: IncomingMessage, issuer: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  const { origin } = headers
  // All current browsers send Origin with a form; other clients have at least proved the token.
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const { host, protocol } = new URL(origin)
  const requestedHost = headers['x-forwarded-host'] ?? headers.host
  return origin === new URL(issuer).origin || (protocol === 'https:' && host === requestedHost)
}
