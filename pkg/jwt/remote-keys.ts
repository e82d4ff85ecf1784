import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import { createSharedResult } from '../cache/shared-result.ts'
import { isRecord } from '../kubeclient/object/object.ts'

export type KeySetFetch = (
  url: string,
  init: {
    readonly headers: Readonly<Record<string, string>>
    readonly method: string
    readonly signal: AbortSignal
  },
) => Promise<Response>

/** Signature algorithms of other issuers; none with shared secrets (RFC 8725 section 2.1). */
export const publicKeyAlgorithms = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
] as const

// Anyone can send a token with an unknown key ID: failed requests are not repeated so soon.
const failedForMs = 5_000

/**
 * Returns the cached key set of a URL. For an unknown key ID it is fetched again, at most every 30
 * seconds, and not within some seconds after a failure.
 *
 * @param now a monotonic clock
 */
export function remoteKeys(
  url: string,
  fetch: KeySetFetch,
  timeoutMs: number,
  now?: () => number,
): JWTVerifyGetKey {
  const request = { headers: { accept: 'application/json, application/jwk-set+json' }, method: 'GET' }
  const read = createSharedResult(
    async () => {
      const response = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) })
      if (response.status !== 200) throw new Error(`the key set has status ${response.status}`)
      const body: unknown = await response.json()
      if (!isRecord(body) || !Array.isArray(body.keys)) throw new Error('the document is not a key set')
      return body
    },
    { keepMs: 0, failedForMs, ...(now && { now }) },
  )
  return createRemoteJWKSet(new URL(url), {
    timeoutDuration: timeoutMs,
    [customFetch]: async () => Response.json(await read()),
  })
}
