import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { unauthorized } from '../status/status.ts'

const maxTokenLength = 32 * 1024
const protocolPrefix = 'base64url.bearer.authorization.k8s.io.'

/**
 * The bearer token of a request (RFC 6750 section 2.1), or of a WebSocket handshake from a browser, which can only say it as
 * a subprotocol; null when there is no credential.
 *
 * @throws Status 401 for another scheme, two headers, or something too long to be a token
 */
export function readBearer(req: IncomingMessage): string | null {
  const header = req.headers.authorization
  if (header === undefined || header === '') return readProtocol(req)
  // node keeps the first and forgets the others: who put which in front must not decide who is calling.
  if (countHeaders(req, 'authorization') > 1) throw unauthorized('there are two Authorization headers')
  const match = /^bearer +(\S+) *$/i.exec(header.slice(0, maxTokenLength + 16))
  if (!match) throw unauthorized('the Authorization header is no bearer token')
  const token = match[1] ?? ''
  if (token.length > maxTokenLength || header.length > maxTokenLength + 8)
    throw unauthorized('the bearer token is too long')
  return token
}

/** What caches know a token by: never the token itself. */
export function tokenKey(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}

function readProtocol(req: IncomingMessage): string | null {
  const offered = String(req.headers['sec-websocket-protocol'] ?? '').split(',')
  const found = offered.map(protocol => protocol.trim()).find(protocol => protocol.startsWith(protocolPrefix))
  if (found === undefined) return null
  const token = Buffer.from(found.slice(protocolPrefix.length), 'base64url').toString('utf8')
  if (token === '' || token.length > maxTokenLength)
    throw unauthorized('the WebSocket bearer token cannot be read')
  return token
}

function countHeaders(req: IncomingMessage, name: string): number {
  let count = 0
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    const raw = req.rawHeaders[i]
    if (raw?.length === name.length && raw.toLowerCase() === name) count++
  }
  return count
}
