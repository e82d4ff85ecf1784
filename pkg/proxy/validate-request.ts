import type { HeaderLines } from './headers.ts'

// Syntax of RFC 9110 sections 5.6.2 and 5.5. Bytes above ASCII are allowed, as latin1.
const token = /^[!#$%&'*+\-.^_`|~\w]+$/
const notInValue = /[^\t\x20-\x7e\x80-\xff]/
const notInPath = /[^\x21-\x7e\x80-\xff]/

type RequestLines = {
  readonly method: string
  /** Path and query exactly as in the request line. */
  readonly path: string
  readonly headers: HeaderLines
  readonly hasBody: boolean
}

/**
 * Validates a request before it is sent: no part of it may end a header line or add one. Errors
 * that undici would raise are found here, since a request that undici rejects blocks its
 * connection.
 *
 * @throws Error REQUEST_INVALID
 */
export function checkRequest({ method, path, headers, hasBody }: RequestLines): void {
  if (!token.test(method) || !path.startsWith('/') || notInPath.test(path))
    throw invalid('invalid request line')
  checkHeaders(headers)
  let length: string | undefined
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? ''
    if (name.length !== 14 || name.toLowerCase() !== 'content-length') continue
    const value = headers[i + 1] ?? ''
    if (length !== undefined || !/^\d{1,15}$/.test(value)) throw invalid('invalid Content-Length')
    length = value
  }
  if (!hasBody && length !== undefined && Number(length) > 0) throw invalid('Content-Length without a body')
}

/** @throws Error REQUEST_INVALID */
export function checkHeaders(headers: HeaderLines): void {
  for (let i = 0; i < headers.length; i += 2)
    if (!isHeader(headers[i] ?? '', headers[i + 1] ?? '')) throw invalid('invalid header')
}

/** Returns whether name and value can be sent as one header line. */
export function isHeader(name: string, value: string): boolean {
  return token.test(name) && isHeaderText(value)
}

/** Returns whether a text can be a header value: a line break would begin another header. */
export function isHeaderText(text: string): boolean {
  return !notInValue.test(text)
}

function invalid(what: string): Error {
  return Object.assign(new Error(`the request cannot be proxied: ${what}`), { code: 'REQUEST_INVALID' })
}
