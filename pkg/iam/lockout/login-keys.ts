import { createHmac } from 'node:crypto'
import { sourceNetwork } from '../../httpserver/client-address.ts'
import type { LoginKeys } from '../passwords/password-check.ts'

/**
 * What failures are counted under. A name as it was typed may be a password in the wrong field, and is written down where
 * replicas share it: it goes by a digest that nobody can search without the secret.
 *
 * @param secret the same on every replica
 */
export function createLoginKeys(secret: () => Buffer): LoginKeys {
  return {
    user: ({ name }) => `user:${name}`,
    login: login => `login:${toLoginRef(secret(), login)}`,
    address: address => `address:${sourceNetwork(address)}`,
  }
}

/** E-mail addresses are found whatever their case; so are they counted. */
export function toLoginRef(secret: Buffer, login: string): string {
  const name = login.includes('@') ? login.toLowerCase() : login
  return createHmac('sha256', secret).update(name).digest('hex').slice(0, 32)
}
