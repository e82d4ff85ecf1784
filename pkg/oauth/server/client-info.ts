import type { IncomingMessage } from 'node:http'
import type { ClientInfo } from '../../iam/sessions/client-info.ts'

// Login records store the User-Agent header; this length is enough to recognize a browser.
const maxUserAgent = 256

/**
 * Returns the client address. kapis-apiserver replaces X-Forwarded-For by the verified address, and
 * only kapis-apiserver can connect to this socket.
 */
export function clientInfoOf(req: IncomingMessage): ClientInfo {
  const address = req.headers['x-forwarded-for']
  const { 'user-agent': userAgent = '' } = req.headers
  return { address: typeof address === 'string' ? address : '', userAgent: userAgent.slice(0, maxUserAgent) }
}
