import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'

export type KeySetFetch = (
  url: string,
  init: {
    readonly headers: Readonly<Record<string, string>>
    readonly method: string
    readonly signal: AbortSignal
  },
) => Promise<Response>

/**
 * Signature algorithms of other issuers. RFC 8725 section 2.1: a public key must never be used as a
 * shared secret.
 */
export const publicKeyAlgorithms = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
] as const

/** The JSON Web Key Set at a URL, cached, and fetched again for an unknown key ID. */
export function remoteKeys(url: string, fetch: KeySetFetch, timeoutMs: number): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), {
    timeoutDuration: timeoutMs,
    [customFetch]: (address, { headers, method, signal }) =>
      fetch(address, { headers: Object.fromEntries(headers), method, signal }),
  })
}
