import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import { type KeySetFetch, publicKeyAlgorithms, remoteKeys } from './remote-keys.ts'

export type IdTokenVerifierOptions = {
  readonly issuer: string
  readonly clientId: string
  readonly jwksUri: string
  /** Accepted signature algorithms; undefined for the default, RS256. */
  readonly algorithms: readonly string[] | undefined
  readonly clockToleranceSeconds: number
  readonly timeoutMs: number
  readonly fetch: KeySetFetch
}

export type ProviderClaims = Readonly<Record<string, unknown>> & { readonly sub: string }

/** An invalid ID token. The message contains the claim, the expected value and the actual value. */
export class InvalidIdToken extends Error {
  override readonly name = 'InvalidIdToken'
}

// Error codes for an invalid token. Other errors concern the key set or the connection.
const invalid: ReadonlySet<string> = new Set([
  errors.JOSEAlgNotAllowed.code,
  errors.JOSENotSupported.code,
  errors.JWKSMultipleMatchingKeys.code,
  errors.JWKSNoMatchingKey.code,
  errors.JWSInvalid.code,
  errors.JWSSignatureVerificationFailed.code,
  errors.JWTClaimValidationFailed.code,
  errors.JWTExpired.code,
  errors.JWTInvalid.code,
])

// OpenID Connect Core section 2 allows 255 ASCII characters. Other characters are accepted too, but not
// those that would be changed when the User stores them: two accounts could become one.
const subSyntax = /^[^\p{Cc}\p{Cs}]{1,255}$/u
const expectedSub = '1 to 255 characters'

/**
 * Creates a function that verifies ID tokens of an OpenID provider with its published keys (OpenID
 * Connect Core section 3.1.3.7). `acr` and `auth_time` are not checked: Kapis requests neither, and
 * AD FS sends `auth_time` as a string.
 *
 * @returns a function that throws InvalidIdToken, or another Error if the keys cannot be fetched
 */
export function createIdTokenVerifier(
  options: IdTokenVerifierOptions,
): (idToken: string, nonce: string) => Promise<ProviderClaims> {
  const { issuer, clientId, clockToleranceSeconds, timeoutMs, fetch } = options
  const keys = remoteKeys(options.jwksUri, fetch, timeoutMs)
  const { algorithms: allowed = ['RS256'] } = options
  const algorithms = publicKeyAlgorithms.filter(alg => allowed.includes(alg))

  async function read(idToken: string, nowSeconds: number): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(idToken, keys, {
        issuer,
        audience: clientId,
        algorithms,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(nowSeconds * 1000),
        requiredClaims: ['sub', 'iat', 'exp'],
      })
      return payload
    } catch (error) {
      if (!(error instanceof errors.JOSEError) || !invalid.has(error.code)) throw error
      const isOfClaim = error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired
      if (!isOfClaim) throw new InvalidIdToken(`${error.message}${headerOf(idToken)}`)
      const expected = new Map<string, string | number>([
        ['iss', issuer],
        ['aud', clientId],
        ...['exp', 'iat', 'nbf'].map(claim => [claim, nowSeconds] as const),
      ])
      throw wrong(error.claim, error.payload, expected.get(error.claim) ?? expectedSub)
    }
  }

  return async (idToken, nonce) => {
    const nowSeconds = Math.floor(Date.now() / 1000)
    const claims = await read(idToken, nowSeconds)
    if (claims.nonce !== nonce) throw wrong('nonce', claims, nonce)
    // jose only checks iat if the age of a token is limited.
    if (claims.iat === undefined || claims.iat > nowSeconds + clockToleranceSeconds)
      throw wrong('iat', claims, nowSeconds)
    // A token with further audiences may be meant for another client, unless azp is this client.
    const hasMoreAudiences = Array.isArray(claims.aud) && claims.aud.length > 1
    if ((hasMoreAudiences || claims.azp !== undefined) && claims.azp !== clientId)
      throw wrong('azp', claims, clientId)
    const { sub } = claims
    if (typeof sub !== 'string' || !subSyntax.test(sub)) throw wrong('sub', claims, expectedSub)
    return { ...claims, sub }
  }
}

/** @param expected the expected value; for times the current time, in seconds since the epoch */
function wrong(claim: string, claims: JWTPayload, expected: string | number): InvalidIdToken {
  const what =
    typeof expected === 'number' ? `the time is ${expected}` : `expected ${JSON.stringify(expected)}`
  return new InvalidIdToken(
    `invalid claim ${claim} of the ID token: ${what}, got ${printValue(claims[claim])}`,
  )
}

function printValue(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value).slice(0, 256)
}

function headerOf(idToken: string): string {
  try {
    const { alg, kid } = decodeProtectedHeader(idToken)
    return ` (alg ${printValue(alg)}, kid ${printValue(kid)})`
  } catch {
    return ''
  }
}
