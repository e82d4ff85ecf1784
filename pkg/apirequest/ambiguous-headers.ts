import type { IncomingMessage } from 'node:http'
import { badRequest, Status } from '../apierrors/status.ts'

// The characters of a host with port (RFC 3986 sections 3.2.2 and 3.2.3), without user information.
const hostAndPort = /^[\w!$%&'()*+,\-.:;=[\]~]*$/

/**
 * Rejects request headers that the HTTP parser accepts, but that another parser in the path could
 * read differently. These are: more than one Host header or an invalid one (RFC 9112 section 3.2),
 * a transfer coding other than chunked (section 6.1), and a version other than HTTP/1.
 *
 * @throws Status 400, 501, 505
 */
export function rejectAmbiguousHead({
  httpVersion,
  rawHeaders,
}: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>): void {
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    throw new Status(
      505,
      'BadRequest',
      `unsupported version HTTP/${httpVersion}; supported: HTTP/1.1, HTTP/1.0`,
    )
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    // Comparing lengths first avoids a lower-case copy of every header name.
    if (name.length === 4 && name.toLowerCase() === 'host') checkHost(rawHeaders[i + 1] ?? '', ++hosts)
    if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') checkCoding(rawHeaders[i + 1] ?? '')
  }
}

function checkHost(host: string, count: number): void {
  if (count > 1) throw badRequest('the Host header is given more than once')
  if (!hostAndPort.test(host)) throw badRequest('the Host header is not a host and port')
}

function checkCoding(coding: string): void {
  if (coding.trim().toLowerCase() === 'chunked') return
  const message = `unsupported Transfer-Encoding ${JSON.stringify(coding)}; supported: chunked`
  // Closes the connection: it is unknown where the next request begins.
  throw new Status(501, 'BadRequest', message, { headers: { connection: 'close' } })
}

// CGI and WSGI servers do not distinguish underscores from hyphens in header names.
const methodOverride = /^x[-_](http[-_]method([-_]override)?|(original[-_])?method([-_]override)?)$/
const targetOverride = /^x[-_](original|rewrite)[-_](url|uri|path)$/

/**
 * Rejects headers that make some servers use another method or path than the authorized one, such
 * as X-HTTP-Method-Override.
 *
 * @param url of the request, as received
 * @throws Status 400
 */
export function rejectOverrides({
  method,
  url,
  headers,
}: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith('x') || value === undefined) continue
    if (methodOverride.test(name) && String(value).toUpperCase() !== method)
      throw badRequest(`the header ${name} names another method than that of the request`)
    if (targetOverride.test(name) && String(value) !== url)
      throw badRequest(`the header ${name} names another path than that of the request`)
  }
}
