import type { IncomingMessage } from 'node:http'
import type { Source } from '../../iam/sessions/client-info.ts'

// A record keeps it; nobody needs more of it to know a browser by.
const maxUserAgent = 256

/**
 * Where a request comes from. kapis-apiserver replaces X-Forwarded-For by the one address that it vouches for, and is the only
 * one that this socket is for.
 */
export function sourceOf(req: IncomingMessage): Source {
  const address = req.headers['x-forwarded-for']
  const { 'user-agent': userAgent = '' } = req.headers
  return { address: typeof address === 'string' ? address : '', userAgent: userAgent.slice(0, maxUserAgent) }
}
