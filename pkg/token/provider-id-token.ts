import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
} from 'jose'

export type IdTokenVerifierOptions = {
  readonly issuer: string
  readonly clientId: string
  readonly jwksUri: string
  /** Those that the provider says to sign with; undefined where it says nothing. */
  readonly algorithms: readonly string[] | undefined
  readonly clockToleranceSeconds: number
  readonly timeoutMs: number
  readonly fetch: (
    url: string,
    init: {
      readonly headers: Readonly<Record<string, string>>
      readonly method: string
      readonly signal: AbortSignal
    },
  ) => Promise<Response>
}

export type ProviderClaims = Readonly<Record<string, unknown>> & { readonly sub: string }

/** An ID token that must not be believed. The message names the claim, what it should be and what it is. */
export class InvalidIdToken extends Error {
  override readonly name = 'InvalidIdToken'
}

// RFC 8725 section 2.1: a public key must never be taken for a shared secret.
const asymmetric = ['RS', 'PS', 'ES'].flatMap(kind => ['256', '384', '512'].map(size => kind + size))
const supported: readonly string[] = [...asymmetric, 'EdDSA', 'Ed25519']

// Of the token, and not of the key set or of the connection.
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

/**
 * Verifies ID tokens of an OpenID provider as its client (OpenID Connect Core section 3.1.3.7), with the keys that the
 * provider publishes. `auth_time` is not looked at: it counts only where `max_age` was asked for, and AD FS writes text.
 *
 * @returns a function that throws InvalidIdToken, and any other Error when the keys cannot be read
 */
export function createIdTokenVerifier(
  options: IdTokenVerifierOptions,
): (idToken: string, nonce: string) => Promise<ProviderClaims> {
  const { issuer, clientId, clockToleranceSeconds, timeoutMs, fetch } = options
  const keys = createRemoteJWKSet(new URL(options.jwksUri), {
    timeoutDuration: timeoutMs,
    [customFetch]: (url, { headers, method, signal }) =>
      fetch(url, { headers: Object.fromEntries(headers), method, signal }),
  })
  const algorithms = supported.filter(alg => options.algorithms?.includes(alg) ?? true)

  async function read(idToken: string): Promise<JWTPayload> {
    const nowSeconds = Math.floor(Date.now() / 1000)
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
      throw wrong(error.claim, error.payload, expected.get(error.claim) ?? 'text')
    }
  }

  return async (idToken, nonce) => {
    const claims = await read(idToken)
    if (claims.nonce !== nonce) throw wrong('nonce', claims, nonce)
    const isForMore = Array.isArray(claims.aud) && claims.aud.length > 1
    if (isForMore && claims.azp !== clientId) throw wrong('azp', claims, clientId)
    const { sub } = claims
    if (typeof sub !== 'string' || sub === '') throw wrong('sub', claims, 'text')
    return { ...claims, sub }
  }
}

/** @param expected of a time: the present one, in seconds since the epoch */
function wrong(claim: string, claims: JWTPayload, expected: string | number): InvalidIdToken {
  const what =
    typeof expected === 'number' ? `the time is ${expected}` : `expected ${JSON.stringify(expected)}`
  return new InvalidIdToken(`invalid claim ${claim} of the ID token: ${what}, got ${written(claims[claim])}`)
}

function written(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value).slice(0, 256)
}

function headerOf(idToken: string): string {
  try {
    const { alg, kid } = decodeProtectedHeader(idToken)
    return ` (alg ${written(alg)}, kid ${written(kid)})`
  } catch {
    return ''
  }
}
