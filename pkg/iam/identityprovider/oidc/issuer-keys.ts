import { customFetch, discovery } from 'openid-client'
import { createSharedResult } from '../../../cache/shared-result.ts'
import { type KeySetFetch, remoteKeys } from '../../../jwt/remote-keys.ts'
import { toCustomFetch } from '../code-flow.ts'
import type { UpstreamFetch } from '../upstream-fetch.ts'

type Keys = ReturnType<typeof remoteKeys>

// A token request waits for the keys, so this timeout is short.
const timeoutMs = 5_000
// Metadata is fetched again after this time, since the URL of the key set may change.
const discoveredForMs = 600_000
// Anyone can send tokens with this issuer, so failed requests are not repeated during this time.
const failedForMs = 5_000

/**
 * Fetches the public keys of OpenID issuers, by discovery at the first token of each issuer. After
 * a failure, an issuer is not queried again for some seconds.
 *
 * @param now a monotonic clock
 * @returns a function that caches its results without a limit: only for issuers of the
 * configuration
 */
export function createIssuerKeys(
  fetch: UpstreamFetch & KeySetFetch,
  now: () => number = () => performance.now(),
): (issuer: string) => Promise<Keys> {
  const known = new Map<string, () => Promise<Keys>>()
  return issuer => {
    const find =
      known.get(issuer) ??
      createSharedResult(() => discover(issuer, fetch, now), { keepMs: discoveredForMs, failedForMs, now })
    known.set(issuer, find)
    return find()
  }
}

async function discover(issuer: string, fetch: UpstreamFetch & KeySetFetch, now: () => number) {
  const options = { [customFetch]: toCustomFetch(fetch), timeout: timeoutMs / 1000 }
  // A dummy: discovery does not send the client ID.
  const { jwks_uri: url } = (
    await discovery(new URL(issuer), 'kapis', undefined, undefined, options)
  ).serverMetadata()
  if (url === undefined || !url.startsWith('https:'))
    throw new Error(`the metadata of ${issuer} has no jwks_uri with https`)
  return remoteKeys(url, fetch, timeoutMs, now)
}
