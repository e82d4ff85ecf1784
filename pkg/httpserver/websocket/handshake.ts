import type { IncomingMessage } from 'node:http'
import { badRequest, Status } from '../../apierrors/status.ts'

type Handshake = Pick<IncomingMessage, 'method' | 'headers'>

const bearerPrefix = 'base64url.bearer.authorization.k8s.io.'
const tokenList = /^[!#$%&'*+\-.^_`|~\w]+(?:[ \t]*,[ \t]*[!#$%&'*+\-.^_`|~\w]+)*$/

/** Returns whether a request is a WebSocket handshake (RFC 6455 section 4.1). */
export function isWebSocket({ method, headers }: Handshake): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false
  return (headers.connection ?? '').split(',').some(member => member.trim().toLowerCase() === 'upgrade')
}

/**
 * Splits the offered subprotocols into actual ones and those that contain a bearer token: browsers
 * cannot send a credential in any other way.
 */
export function splitSubprotocols(header: string | undefined): { offered: string[]; bearers: string[] } {
  const members = (header ?? '').split(',').map(member => member.trim())
  const protocols = members.filter(member => member !== '')
  return {
    offered: protocols.filter(member => !member.startsWith(bearerPrefix)),
    bearers: protocols
      .filter(member => member.startsWith(bearerPrefix))
      .map(member => member.slice(bearerPrefix.length)),
  }
}

/**
 * Validates a handshake and returns the subprotocol to accept, or undefined if none is offered. Any
 * subprotocol is accepted, as in kube-apiserver: it does not change how events are sent.
 *
 * @throws Status 400 for an invalid handshake (RFC 6455), and for two subprotocols
 */
export function readHandshake({ headers }: Handshake): string | undefined {
  if (headers['sec-websocket-version'] !== '13') {
    const message = 'Sec-WebSocket-Version must be 13'
    throw new Status(400, 'BadRequest', message, { headers: { 'sec-websocket-version': '13' } })
  }
  const key = headers['sec-websocket-key'] ?? ''
  if (!/^[A-Za-z0-9+/]{22}==$/.test(key)) throw badRequest('Sec-WebSocket-Key must be 16 bytes as base64')
  const protocols = headers['sec-websocket-protocol']
  if (protocols === undefined) return undefined
  if (!tokenList.test(protocols)) throw badRequest('Sec-WebSocket-Protocol must be a list of tokens')
  const [protocol, another] = splitSubprotocols(protocols).offered
  if (another !== undefined) {
    throw badRequest('Sec-WebSocket-Protocol must have at most one subprotocol next to a bearer token')
  }
  return protocol
}
