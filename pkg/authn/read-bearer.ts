import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { unauthorized } from '../apierrors/status.ts'
import { isWebSocket, splitSubprotocols } from '../httpserver/websocket/handshake.ts'
import { assertOneAuthorization } from './one-authorization.ts'

const maxTokenLength = 32 * 1024

/**
 * Returns the bearer token of a request (RFC 6750 section 2.1); null without a token. For a
 * WebSocket handshake the token may be a subprotocol, since browsers cannot send other headers.
 *
 * @throws Status 401 for another scheme, two different headers, or a value too long to be a token
 */
export function readBearer(req: IncomingMessage): string | null {
  const header = req.headers.authorization
  if (header === undefined || header === '') return readProtocol(req)
  assertOneAuthorization(req)
  const match = /^bearer +(\S+) *$/i.exec(header.slice(0, maxTokenLength + 16))
  if (!match) throw unauthorized('the Authorization header is not a bearer token')
  const token = match[1] ?? ''
  if (token.length > maxTokenLength || header.length > maxTokenLength + 8)
    throw unauthorized('the bearer token is too long')
  return token
}

export type Bearer = { readonly token: string; readonly key: string }

/**
 * Creates a function like readBearer that caches the token of a connection, so that it is not
 * parsed and hashed again for each request.
 *
 * @returns a function that throws Status 401
 */
export function createBearerReader(): (req: IncomingMessage) => Bearer | null {
  const lastSeen = new WeakMap<object, { readonly header: string; readonly bearer: Bearer }>()
  return req => {
    const { authorization: header = '' } = req.headers
    const last = lastSeen.get(req.socket)
    if (header !== '' && last?.header === header) {
      assertOneAuthorization(req)
      return last.bearer
    }
    const token = readBearer(req)
    if (token === null) return null
    const bearer = { token, key: tokenKey(token) }
    // Not cached: a token in a subprotocol is only valid for its own handshake.
    if (header !== '') lastSeen.set(req.socket, { header, bearer })
    return bearer
  }
}

/** Returns the cache key of a token: a digest, so that caches contain no tokens. */
export function tokenKey(token: string): string {
  return hash('sha256', token, 'base64')
}

function readProtocol(req: IncomingMessage): string | null {
  if (!isWebSocket(req)) return null
  const { offered, bearers } = splitSubprotocols(req.headers['sec-websocket-protocol'])
  const [bearer, another] = bearers
  if (bearer === undefined) return null
  if (another !== undefined) throw unauthorized('there is more than one WebSocket bearer token')
  // RFC 6455 section 4.1: a browser that offered subprotocols requires one of them.
  if (offered.length === 0)
    throw unauthorized('a WebSocket bearer token requires another subprotocol next to it')
  const token = decode(bearer)
  if (token === '' || token.length > maxTokenLength) throw unauthorized('invalid WebSocket bearer token')
  return token
}

/** Decodes base64url without padding as UTF-8; '' for invalid input. */
function decode(text: string): string {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text && isUtf8(bytes) ? bytes.toString('utf8') : ''
}
