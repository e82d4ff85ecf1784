import { customFetch, discovery } from 'openid-client'
import { type KeySetFetch, remoteKeys } from '../../../jwt/remote-keys.ts'
import { toCustomFetch } from '../code-flow.ts'
import type { UpstreamFetch } from '../upstream-fetch.ts'

type Keys = ReturnType<typeof remoteKeys>

// Keys are fetched within one token request.
const timeoutMs = 5_000
// The address of the key set may change.
const discoveredForMs = 600_000

/** The public keys of OpenID issuers, found by discovery at the first token of each. */
export function createIssuerKeys(fetch: UpstreamFetch & KeySetFetch): (issuer: string) => Promise<Keys> {
  const known = new Map<string, { readonly keys: Keys; readonly atMs: number }>()
  return async issuer => {
    const found = known.get(issuer)
    if (found !== undefined && performance.now() - found.atMs < discoveredForMs) return found.keys
    const options = { [customFetch]: toCustomFetch(fetch), timeout: timeoutMs / 1000 }
    // The client ID is not sent.
    const { jwks_uri: url } = (
      await discovery(new URL(issuer), 'kapis', undefined, undefined, options)
    ).serverMetadata()
    if (url === undefined || !url.startsWith('https:'))
      throw new Error(`the metadata of ${issuer} has no jwks_uri with https`)
    const keys = remoteKeys(url, fetch, timeoutMs)
    known.set(issuer, { keys, atMs: performance.now() })
    return keys
  }
}
