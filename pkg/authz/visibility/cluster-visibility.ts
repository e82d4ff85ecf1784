import { type Identity, isSuperuser } from '../../apirequest/identity/identity.ts'
import { type RequestInfo, toResourceInfo } from '../../apirequest/request-info.ts'
import { type BoundedCache, createBoundedCache } from '../../cache/bounded-cache.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { createIdentityKey } from '../authorizer.ts'
import { reviewAccess } from '../subject-access-review.ts'

export type ClusterVisibilityOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  /** Calls a listener when cluster-wide grants may have changed. */
  readonly onClusterChange: (listener: () => void) => void
}

/** The part of a request that determines its visibility. */
export type VisibilityRequest = Pick<RequestInfo, 'verb' | 'resource' | 'name'>

/** Reports whether a caller may list all namespaces, or access the requested one. */
export type ClusterVisibility = {
  /** @throws Status 503 if kube-apiserver is not responding */
  readonly of: (attributes: VisibilityRequest, identity: Identity) => Promise<boolean>
  /** Returns the generation of the cache, which counts its invalidations. */
  readonly round: () => number
  /** Calls listeners after each invalidation, in sequence. @returns its removal */
  readonly onRound: (listener: () => Promise<void>) => () => void
}

const cacheMs = 10_000
const maxCacheBytes = 2 * 1024 * 1024
// Longer than any real name; decisions for longer names are not cached, so that callers cannot fill
// the cache.
const maxName = 253
// Kapis may receive a changed binding before the authorizer of kube-apiserver does: the review is
// made soon, and again after a delay.
const lookMs = { soon: 500, late: 5_000 }

/**
 * Creates the checks of cluster-wide visibility. Decisions are cached for ten seconds, and until a
 * cluster-wide grant changes.
 */
export function createClusterVisibility({
  client,
  groupDomain,
  onClusterChange,
}: ClusterVisibilityOptions): ClusterVisibility {
  const listeners = new Set<() => Promise<void>>()
  const identityKey = createIdentityKey()
  let known = createKnown()
  let rounds = 0
  let isDue = false
  let late: NodeJS.Timeout | undefined

  async function may(
    // A new cache for each generation: a decision that was requested before a change must not be
    // cached after it.
    cache: BoundedCache<boolean>,
    identity: Identity,
    info: RequestInfo,
  ): Promise<boolean> {
    const { verb, resource, name } = info
    const key = JSON.stringify([identityKey(identity), verb, resource, name])
    const found = cache.get(key)
    if (found !== undefined) return found
    const { isAllowed } = await reviewAccess(client, info, identity)
    cache.set(key, isAllowed, cacheMs)
    return isAllowed
  }

  async function check(): Promise<void> {
    known = createKnown()
    rounds++
    // Awaited one by one: a thousand watches must not cause a thousand concurrent reviews.
    for (const listener of [...listeners]) await listener()
  }

  onClusterChange(() => {
    clearTimeout(late)
    late = setTimeout(check, lookMs.late).unref()
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      void check()
    }, lookMs.soon).unref()
  })

  return {
    async of({ verb, resource, name }, identity) {
      if (isSuperuser(identity)) return true
      const group = resource === 'workspaces' ? `tenant.${groupDomain}` : ''
      if (await may(known.all, identity, toResourceInfo({ verb: 'list', group, resource }))) return true
      if (name === '' || name.length > maxName) return false
      // For kube-apiserver a namespace is inside itself: a RoleBinding in it grants access to it.
      const namespace = resource === 'namespaces' ? { namespace: name } : {}
      return may(known.named, identity, toResourceInfo({ verb, group, resource, name, ...namespace }))
    },
    round: () => rounds,
    onRound(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Creates two caches, so that many lookups by name cannot evict cluster-wide decisions. */
function createKnown() {
  const create = () => createBoundedCache<boolean>({ maxBytes: maxCacheBytes, sizeOf: () => 0 })
  return { all: create(), named: create() }
}
