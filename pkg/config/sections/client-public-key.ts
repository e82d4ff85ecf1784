import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { z } from 'zod'

// RFC 7518 section 3.3.
const minRsaBits = 2048

/**
 * A public key of a client (RFC 7517). Private and symmetric keys are rejected, since they are
 * secrets.
 */
export const publicKey = z
  .looseObject({ kty: z.enum(['RSA', 'EC', 'OKP'], { error: 'must be RSA, EC or OKP' }) })
  .refine(key => !('d' in key), { error: 'must be a public key, without the member d' })
  .refine(isUsable, { error: `must be a valid public key, of at least ${minRsaBits} bits for RSA` })

function isUsable(key: JsonWebKey): boolean {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key, format: 'jwk' })
    return (asymmetricKeyDetails?.modulusLength ?? minRsaBits) >= minRsaBits
  } catch {
    return false
  }
}
