import { hash } from 'node:crypto'
import { type Identity, isSuperuser } from '../apirequest/identity.ts'
import type { RequestInfo } from '../apirequest/request-info.ts'
import { createBoundedCache } from '../cache/bounded-cache.ts'
import type { KubeClient } from '../kubeclient/client.ts'
import { toReviewSpec } from './attributes.ts'
import { decidingExtra } from './authorization-extra.ts'
import { refusalFor } from './forbidden.ts'
import { type Decision, type ReviewSpec, review } from './subject-access-review.ts'
import { assertInScope } from './token-scope.ts'

export type AuthorizerOptions = {
  readonly client: KubeClient
  /** The aggregated group, where an anonymous caller is refused as kube-apiserver refuses. */
  readonly group: string
  readonly observe: (decision: 'allowed' | 'denied' | 'error', source: 'rule' | 'cache' | 'review') => void
}

export type Authorize = (info: RequestInfo, identity: Identity) => Promise<void> | void

const cacheMs = 10_000
const maxCacheBytes = 8 * 1024 * 1024

/**
 * Authorizes a request with a SubjectAccessReview.
 *
 * @throws Status 403, 401 if the caller should log in first, 503 if kube-apiserver is not
 * responding
 */
export function createAuthorizer(options: AuthorizerOptions): Authorize {
  const decisions = createBoundedCache<Decision>({
    maxBytes: maxCacheBytes,
    sizeOf: ({ reason }) => 2 * reason.length,
  })
  const underWay = new Map<string, Promise<Decision>>()
  const identityKey = createIdentityKey()
  const requestKey = createRequestKey()

  function judge(decision: Decision, info: RequestInfo, identity: Identity): void {
    if (decision.isAllowed) return
    throw refusalFor(info, identity, { reason: decision.reason, group: options.group })
  }

  async function ask(key: string, spec: ReviewSpec): Promise<Decision> {
    const running = underWay.get(key) ?? review(options.client, spec).finally(() => underWay.delete(key))
    underWay.set(key, running)
    try {
      const decision = await running
      options.observe(decision.isAllowed ? 'allowed' : 'denied', 'review')
      decisions.set(key, decision, cacheMs)
      return decision
    } catch (error) {
      options.observe('error', 'review')
      throw error
    }
  }

  return (info, identity) => {
    assertInScope(info, identity)
    if (isSuperuser(identity)) {
      options.observe('allowed', 'rule')
      return
    }
    const key = `${identityKey(identity)} ${requestKey(info)}`
    const known = decisions.get(key)
    if (known !== undefined) {
      options.observe(known.isAllowed ? 'allowed' : 'denied', 'cache')
      return judge(known, info, identity)
    }
    return ask(key, toReviewSpec(info, identity)).then(decision => judge(decision, info, identity))
  }
}

/**
 * A short cache key for the caller. Users with hundreds of groups are common, and it is needed for
 * each request.
 */
function createIdentityKey(): (identity: Identity) => string {
  const keys = new WeakMap<Identity, string>()
  return identity => {
    const known = keys.get(identity)
    if (known !== undefined) return known
    const { username, uid, groups } = identity
    const key = hash('sha256', JSON.stringify([username, uid, groups, decidingExtra(identity)]), 'base64')
    keys.set(identity, key)
    return key
  }
}

/** A cache key for the attributes of a request. Frequent requests share one RequestInfo object. */
function createRequestKey(): (info: RequestInfo) => string {
  const keys = new WeakMap<RequestInfo, string>()
  return info => {
    let key = keys.get(info)
    if (key === undefined) {
      key = JSON.stringify(toAttributes(info))
      keys.set(info, key)
    }
    return key
  }
}

function toAttributes(info: RequestInfo): readonly string[] {
  if (!info.isResource) return [info.verb, info.path]
  const { verb, group, version, namespace, resource, subresource, name } = info
  const selectors = [info.fieldSelector.text, info.labelSelector.text]
  return [verb, group, version, namespace, resource, subresource, name, ...selectors]
}
