import { customFetch, discovery } from 'openid-client'
import { createSharedResult } from '../../../cache/shared-result.ts'
import { type KeySetFetch, remoteKeys } from '../../../jwt/remote-keys.ts'
import { toCustomFetch } from '../code-flow.ts'
import type { UpstreamFetch } from '../upstream-fetch.ts'

type Keys = ReturnType<typeof remoteKeys>

// Keys are fetched within one token request.
const timeoutMs = 5_000
// The address of the key set may change.
const discoveredForMs = 600_000
// Anyone can send tokens that claim to be of the issuer.
const failedForMs = 5_000

/**
 * The public keys of OpenID issuers, found by discovery at the first token of each. An issuer that
 * cannot be reached is not asked again for some seconds.
 *
 * @param now a monotonic clock
 * @returns a function for the issuers of the configuration: each is remembered
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
  // The client ID is not sent.
  const { jwks_uri: url } = (
    await discovery(new URL(issuer), 'kapis', undefined, undefined, options)
  ).serverMetadata()
  if (url === undefined || !url.startsWith('https:'))
    throw new Error(`the metadata of ${issuer} has no jwks_uri with https`)
  return remoteKeys(url, fetch, timeoutMs, now)
}
