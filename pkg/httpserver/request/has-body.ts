import type { IncomingMessage } from 'node:http'

/** Returns whether a request has a body (RFC 9112 section 6.3). */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  return coding !== undefined || (length !== undefined && length !== '0')
}
