import type { IncomingMessage } from 'node:http'

/**
 * Returns whether a page of another origin caused a browser to send a request. The browser may add
 * stored credentials, such as those of HTTP Basic, without the knowledge of its user. Clients other
 * than browsers send neither header.
 */
export function isCrossOrigin({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const site = headers['sec-fetch-site']
  // `none` means that the user caused the request, for example by typing an address.
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  // Not all browsers send Sec-Fetch-Site with a WebSocket handshake.
  const { origin } = headers
  if (origin === undefined) return false
  const host = headers['x-forwarded-host'] ?? headers.host
  return !URL.canParse(origin) || new URL(origin).host !== String(host).toLowerCase()
}
