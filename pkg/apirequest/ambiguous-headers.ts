import type { IncomingMessage } from 'node:http'
import { badRequest } from '../apierrors/status.ts'

/**
 * Rejects a request with more than one Host header: two parsers on its path could each use another
 * one (RFC 9112 section 3.2). The HTTP parser already rejects the other framing ambiguities.
 *
 * @throws Status 400
 */
export function refuseAmbiguousHost({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void {
  let isNamed = false
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (isNamed) throw badRequest('the Host header is given more than once')
    isNamed = true
  }
}

// CGI and WSGI servers do not distinguish underscores from hyphens in header names.
const methodOverride = /^x[-_](http[-_]method([-_]override)?|(original[-_])?method([-_]override)?)$/
const targetOverride = /^x[-_](original|rewrite)[-_](url|uri|path)$/

/**
 * Rejects headers that make a server use another method or path than the authorized one, such as
 * X-HTTP-Method-Override.
 *
 * @param url of the request, as received
 * @throws Status 400
 */
export function refuseOverrides({
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
