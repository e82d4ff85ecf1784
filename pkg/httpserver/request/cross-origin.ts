import type { IncomingMessage } from 'node:http'

/**
 * Whether a page of another origin makes a browser send a request. The browser may add credentials
 * that it keeps, such as those of HTTP Basic, without its user knowing. Other clients send neither
 * header.
 */
export function isCrossOrigin({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const site = headers['sec-fetch-site']
  // `none` is a request of the person at the browser, such as an address that was typed.
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  // Not all browsers send the first with a WebSocket handshake.
  const { origin } = headers
  if (origin === undefined) return false
  const host = headers['x-forwarded-host'] ?? headers.host
  return !URL.canParse(origin) || new URL(origin).host !== String(host).toLowerCase()
}
