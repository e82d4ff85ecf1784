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

const overrides = ['x-http-method-override', 'x-http-method', 'x-method-override'] as const

/**
 * Refuses a header by which a server may take another method than the one that was authorized.
 *
 * @throws Status 400
 */
export function refuseMethodOverride({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): void {
  for (const name of overrides) {
    const value = headers[name]
    if (value !== undefined && String(value).toUpperCase() !== method)
      throw badRequest(`the header ${name} names another method than that of the request`)
  }
}
