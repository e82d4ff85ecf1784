import type { IncomingMessage, ServerResponse } from 'node:http'

type Attributes = {
  /**
   * Strict if no other site sends the browser here, Lax if one does: requests that change something
   * need more than the cookie.
   */
  readonly sameSite: 'Lax' | 'Strict'
}

/**
 * A cookie of Kapis: over TLS alone, and out of reach of scripts. Browsers accept one with the
 * prefix `__Host-` only from this host and for all of its paths, so neither a sibling domain nor a
 * network attacker can set it (RFC 6265bis section 4.1.3); `__Secure-` is for one that is limited to
 * a path.
 */
export type Cookie = Attributes &
  (
    | { readonly name: `__Host-${string}`; readonly path?: never }
    | { readonly name: `__Secure-${string}`; readonly path: `/${string}` }
  )

// RFC 6265 section 6.1: with its attributes. Browsers silently drop longer ones.
const maxLength = 4096
// Section 4.1.1: a token of RFC 2616, cookie-octets, and a path without control characters and `;`.
const names = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const values = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/
const paths = /^\/[\x21-\x3a\x3c-\x7e]*$/

/**
 * Reads a cookie of a request (RFC 6265 section 5.4).
 *
 * @returns undefined if it is missing or empty, or given more than once: one of them may come from
 * another site
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
 * Writes a Set-Cookie header.
 *
 * @param maxAgeSeconds until the browser is closed if it is left out
 * @throws TypeError for a value that would have to be encoded, or would add attributes
 */
export function serializeCookie(cookie: Cookie, value: string, maxAgeSeconds?: number): string {
  const { name, sameSite } = cookie
  const path = cookie.path ?? '/'
  if (!names.test(name)) throw new TypeError(`invalid cookie name ${JSON.stringify(name)}`)
  // The value may be a credential.
  if (!values.test(value)) throw new TypeError(`invalid value of the cookie ${name}`)
  if (!paths.test(path) || (name.startsWith('__Host-') && path !== '/'))
    throw new TypeError(`invalid path of the cookie ${name}: ${JSON.stringify(path)}`)
  if (maxAgeSeconds !== undefined && !Number.isSafeInteger(maxAgeSeconds))
    throw new TypeError(`invalid Max-Age of the cookie ${name}: ${maxAgeSeconds}`)
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
  return `${name}=${value}; Path=${path}; Secure; HttpOnly; SameSite=${sameSite}${age}`
}

/** Whether browsers keep a cookie of this length. */
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

/**
 * Section 5.2: trims only spaces and tabs. A regular expression would take quadratic time for many
 * of them.
 */
function trim(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isBlank(text[start])) start++
  while (end > start && isBlank(text[end - 1])) end--
  return text.slice(start, end)
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}
