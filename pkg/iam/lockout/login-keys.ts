import { createHmac } from 'node:crypto'
import { sourceNetwork } from '../../httpserver/request/client-address.ts'
import type { LoginKeys } from '../passwords/password-check.ts'

/**
 * Returns the keys of failure counts. An entered name may be a password in the wrong field, and all
 * replicas can read the stored key. Therefore the key contains an HMAC of the name.
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
 * Normalizes a name before the HMAC: directories ignore case, and leading, trailing and repeated
 * spaces (RFC 4518). Otherwise other spellings of a name would get further attempts.
 */
export function toLoginRef(secret: Buffer, login: string): string {
  const name = login.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()
  return createHmac('sha256', secret).update(name).digest('hex').slice(0, 32)
}
