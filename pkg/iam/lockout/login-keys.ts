import { createHmac } from 'node:crypto'
import { sourceNetwork } from '../../httpserver/request/client-address.ts'
import type { LoginKeys } from '../passwords/password-check.ts'

/**
 * The keys that failures are counted by. An entered name may be a password in the wrong field, and
 * is stored where all replicas see it: therefore it is stored as an HMAC.
 *
 * @param secret the same on all replicas
 */
export function createLoginKeys(secret: () => Buffer): LoginKeys {
  return {
    user: ({ name }) => `user:${name}`,
    login: login => `login:${toLoginRef(secret(), login)}`,
    address: address => `address:${sourceNetwork(address)}`,
  }
}

/**
 * Directories ignore case, and blanks at the ends and repeated ones (RFC 4518): another spelling of a
 * name must not get further attempts. Names that differ only in that share their attempts.
 */
export function toLoginRef(secret: Buffer, login: string): string {
  const name = login.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()
  return createHmac('sha256', secret).update(name).digest('hex').slice(0, 32)
}
