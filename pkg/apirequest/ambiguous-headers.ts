import type { IncomingMessage } from 'node:http'
import { badRequest } from '../apierrors/status.ts'

/**
 * Refuses a request that names its host more than once: two parsers on its way could each choose another one (RFC 9112
 * section 3.2). Other ambiguities of framing do not come this far: the parser refuses them.
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

// With underscores they are the same to servers that make variables of them (CGI, WSGI).
const methodOverride = /^x[-_](http[-_]method([-_]override)?|(original[-_])?method([-_]override)?)$/
const targetOverride = /^x[-_](original|rewrite)[-_](url|uri|path)$/

/**
 * Refuses headers by which a server may take another method or another path than those that were authorized.
 *
 * @param url of the request, as it was sent
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
