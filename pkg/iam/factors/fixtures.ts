import { createHmac } from 'node:crypto'
import type { FactorOwner, FactorStore } from './factor-store.ts'
import { type Factors, hasFactors, noFactors } from './factors.ts'

/** Stores second factors in memory, by user name. */
export function memoryFactorStore(): FactorStore & { readonly stored: Map<string, Factors> } {
  const stored = new Map<string, Factors>()
  return {
    stored,
    read: async ({ name }) => stored.get(name) ?? noFactors,
    async change({ name }: FactorOwner, next) {
      const factors = next(stored.get(name) ?? noFactors)
      if (factors === undefined) return false
      if (hasFactors(factors)) stored.set(name, factors)
      else stored.delete(name)
      return true
    },
  }
}

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/**
 * Returns the code that an authenticator app shows (RFC 4226 section 5.3, RFC 6238 section 4).
 * Implemented separately, so that the tests do not verify the library by itself.
 *
 * @param steps time steps after the current one
 */
export function totpCode(secret: string, steps = 0): string {
  const bits = [...secret].map(digit => base32.indexOf(digit).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps))
  const mac = createHmac('sha1', key).update(counter).digest()
  const number = mac.readUInt32BE((mac[19] ?? 0) & 15) & 0x7fff_ffff
  return String(number % 1_000_000).padStart(6, '0')
}
