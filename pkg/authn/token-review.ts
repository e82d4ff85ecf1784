import { unauthorized, unavailable } from '../apierrors/status.ts'
import { type Identity, identityBytes } from '../apirequest/identity/identity.ts'
import { createBoundedCache } from '../cache/bounded-cache.ts'
import { createSingleFlight } from '../cache/single-flight.ts'
import type { KubeClient } from '../kubeclient/client.ts'
import { isRecord } from '../kubeclient/object/object.ts'
import { retryTransient } from '../kubeclient/retry.ts'
import { createConcurrencyLimiter } from '../scheduling/concurrency-limiter.ts'
import type { Authenticator } from './authenticator.ts'
import { readBearer, tokenKey } from './read-bearer.ts'

export type TokenReviewOptions = {
  readonly client: KubeClient
  /** Reports whether a token is from Kapis: such tokens are never sent to kube-apiserver. */
  readonly isOurs: (token: string) => boolean
}

const cacheMs = 10_000
const maxCacheBytes = 16 * 1024 * 1024
// Anyone can invent tokens, and each causes a request to kube-apiserver, so reviews are limited.
const maxReviews = { maxConcurrent: 128, waiting: 2_048 }

/** Authenticates bearer tokens of others, such as service accounts, by a TokenReview. */
export function createTokenReviewAuthenticator({ client, isOurs }: TokenReviewOptions): Authenticator {
  const reviewed = createBoundedCache<Identity | 'refused'>({
    maxBytes: maxCacheBytes,
    sizeOf: found => (found === 'refused' ? 0 : identityBytes(found)),
  })
  const share = createSingleFlight<Identity | 'refused'>()
  const queue = createConcurrencyLimiter({
    maxConcurrent: maxReviews.maxConcurrent,
    maxWaiting: maxReviews.waiting,
    rejection: () => unavailable('too many token reviews in progress'),
  })

  async function review(token: string, key: string): Promise<Identity | 'refused'> {
    const result = await queue.run(() => askOften(client, token))
    // Only results are cached, and no failures.
    reviewed.set(key, result, cacheMs)
    return result
  }

  return {
    name: 'token-review',
    async authenticate(req) {
      const token = readBearer(req)
      if (token === null || isOurs(token)) return null
      const key = tokenKey(token)
      const result = reviewed.get(key) ?? (await share(key, () => review(token, key)))
      if (result === 'refused') throw unauthorized('kube-apiserver rejected the token')
      return result
    },
  }
}

function askOften(client: KubeClient, token: string): Promise<Identity | 'refused'> {
  return retryTransient(() => reviewToken(client, token)).catch(error => {
    throw unavailable('authentication failed: the TokenReview could not be completed', error)
  })
}

/**
 * Returns the user of a token by a TokenReview.
 *
 * @param audience the audience that the token must have; defaults to that of kube-apiserver
 * @throws Status if the review fails
 */
export async function reviewToken(
  client: KubeClient,
  token: string,
  audience?: string,
): Promise<Identity | 'refused'> {
  const spec = { token, ...(audience === undefined ? {} : { audiences: [audience] }) }
  const response = await client.call({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec },
  })
  const status = isRecord(response) && isRecord(response.status) ? response.status : {}
  if (status.authenticated !== true || !isRecord(status.user)) return 'refused'
  // An authenticator that does not support audiences omits them, and has not checked them.
  if (audience !== undefined && !toStrings(status.audiences).includes(audience)) return 'refused'
  const { username, uid, groups, extra } = status.user
  if (typeof username !== 'string' || username === '') return 'refused'
  return {
    username,
    uid: typeof uid === 'string' ? uid : '',
    groups: toStrings(groups),
    extra: toExtra(extra),
  }
}

function toStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}

function toExtra(value: unknown): Readonly<Record<string, readonly string[]>> {
  if (!isRecord(value)) return {}
  const entries = Object.entries(value).map(([key, values]) => [key, toStrings(values)] as const)
  // A key without values is omitted, since headers cannot express it.
  return Object.fromEntries(entries.filter(([, values]) => values.length > 0))
}
