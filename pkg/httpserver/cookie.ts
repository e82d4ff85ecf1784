import type { IncomingMessage, ServerResponse } from 'node:http'

type Attributes = {
  /**
   * Strict if no other site links to the page; Lax otherwise, and requests that change state then
   * need additional protection against CSRF.
   */
  readonly sameSite: 'Lax' | 'Strict'
}

/**
 * A cookie of Kapis, which is only sent over TLS and not accessible to scripts. A name with the
 * prefix `__Host-` applies to this host only and to all of its paths, so that neither a sibling
 * domain nor a network attacker can set it (RFC 6265bis section 4.1.3). The prefix `__Secure-` is
 * for cookies that are limited to a path.
 */
export type Cookie = Attributes &
  (
    | { readonly name: `__Host-${string}`; readonly path?: never }
    | { readonly name: `__Secure-${string}`; readonly path: `/${string}` }
  )

// Maximum length with attributes (RFC 6265 section 6.1): browsers drop longer cookies.
const maxLength = 4096
// Syntax of section 4.1.1: a token of RFC 2616, cookie-octets, and a path without control
// characters and `;`.
const names = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const values = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/
const paths = /^\/[\x21-\x3a\x3c-\x7e]*$/

/**
 * Reads a cookie of a request (RFC 6265 section 5.4).
 *
 * @returns undefined if it is missing, empty, or given more than once, since another site may have
 * set one of them
 */
export function readCookie(
  { headers }: Pick<IncomingMessage, 'headers'>,
  { name }: Cookie,
): string | undefined {
  const found = (headers.cookie ?? '').split(';').flatMap(pair => {
    const equals = pair.indexOf('=')
    return equals >= 0 && trim(pair.slice(0, equals)) === name ? [trim(pair.slice(equals + 1))] : []
  })
  const [value, ...more] = found
  return more.length > 0 || value === '' ? undefined : value
}

/**
 * Formats a Set-Cookie header.
 *
 * @param maxAgeSeconds if omitted, the cookie lasts until the browser is closed
 * @throws TypeError for a value that would have to be encoded, or would add attributes
 */
export function serializeCookie(cookie: Cookie, value: string, maxAgeSeconds?: number): string {
  const { name, sameSite } = cookie
  const path = cookie.path ?? '/'
  if (!names.test(name)) throw new TypeError(`invalid cookie name ${JSON.stringify(name)}`)
  // The message does not quote the value, which may be a credential.
  if (!values.test(value)) throw new TypeError(`invalid value of the cookie ${name}`)
  if (!paths.test(path) || (name.startsWith('__Host-') && path !== '/'))
    throw new TypeError(`invalid path of the cookie ${name}: ${JSON.stringify(path)}`)
  if (maxAgeSeconds !== undefined && !Number.isSafeInteger(maxAgeSeconds))
    throw new TypeError(`invalid Max-Age of the cookie ${name}: ${maxAgeSeconds}`)
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
  return `${name}=${value}; Path=${path}; Secure; HttpOnly; SameSite=${sameSite}${age}`
}

/** Returns whether the cookie is short enough for browsers to store it. */
export function fitsInCookie(cookie: Cookie, value: string, maxAgeSeconds?: number): boolean {
  return serializeCookie(cookie, value, maxAgeSeconds).length <= maxLength
}

/** @throws TypeError */
export function setCookie(
  res: Pick<ServerResponse, 'appendHeader'>,
  cookie: Cookie,
  value: string,
  maxAgeSeconds?: number,
): void {
  res.appendHeader('set-cookie', serializeCookie(cookie, value, maxAgeSeconds))
}

export function clearCookie(res: Pick<ServerResponse, 'appendHeader'>, cookie: Cookie): void {
  setCookie(res, cookie, '', 0)
}

/** Trims spaces and tabs (section 5.2); a regular expression would take quadratic time. */
function trim(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isBlank(text[start])) start++
  while (end > start && isBlank(text[end - 1])) end--
  return text.slice(start, end)
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}
