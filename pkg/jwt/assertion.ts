import { createLocalJWKSet, decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { isRecord } from '../kubeclient/object/object.ts'
import { publicKeyAlgorithms } from './remote-keys.ts'

export type AssertionRule = {
  readonly issuer: string
  /** The accepted audiences; `aud` must contain at least one of them. */
  readonly audience: readonly string[]
  /**
   * The accepted types (`typ`) apart from `JWT`, so that a JWT for another purpose, such as a logout
   * token, is not an assertion (RFC 8725 section 3.11). A JWT without a type is accepted.
   */
  readonly types: readonly string[]
  readonly clockToleranceSeconds: number
}

export type Assertion = JWTPayload & { readonly sub: string; readonly exp: number }

// Checked before the token is decoded, which costs time in proportion to its length.
const maxLength = 16 * 1024

/** An invalid assertion; of the token, the message only contains claims. */
export class InvalidAssertion extends Error {
  override readonly name = 'InvalidAssertion'
}

/** Returns the key function for a key set in the configuration. */
export function localKeys(keys: readonly object[]): JWTVerifyGetKey {
  return createLocalJWKSet({ keys: keys.filter(isKey) })
}

function isKey(key: object): key is { kty: string } {
  return isRecord(key) && typeof key.kty === 'string'
}

/** Verifies a JWT of another issuer (RFC 7523). @throws InvalidAssertion; Error without keys */
export async function verifyAssertion(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, audience, types, clockToleranceSeconds }: AssertionRule,
): Promise<Assertion> {
  if (token.length > maxLength) throw new InvalidAssertion('the token is too long')
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer,
      audience: [...audience],
      algorithms: [...publicKeyAlgorithms],
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ['sub', 'exp'],
    })
    if (!['jwt', ...types].includes(toType(protectedHeader.typ)))
      throw new InvalidAssertion('the typ of the token is for another purpose')
    const { sub, exp, iat = 0 } = payload
    // jose only checks iat if the age of a token is limited.
    if (iat > Date.now() / 1000 + clockToleranceSeconds)
      throw new InvalidAssertion('invalid claim iat: it is in the future')
    if (typeof sub !== 'string' || sub === '' || exp === undefined)
      throw new InvalidAssertion('invalid claim sub or exp')
    return { ...payload, sub, exp }
  } catch (error) {
    if (!(error instanceof errors.JOSEError) || error instanceof errors.JWKSTimeout) throw error
    if (error.code === errors.JOSEError.code || error.code === errors.JWKSInvalid.code) throw error
    throw new InvalidAssertion(error.message, { cause: error })
  }
}

/** Normalizes a media type (RFC 7515 section 4.1.9). */
function toType(typ: unknown = 'JWT'): string {
  return String(typ)
    .toLowerCase()
    .replace(/^application\//, '')
}

/** Returns the claims of a token without verifying it; undefined if it is not a JWT. */
export function readUnverified(token: string): JWTPayload | undefined {
  if (token.length > maxLength) return undefined
  try {
    return decodeJwt(token)
  } catch {
    return undefined
  }
}
