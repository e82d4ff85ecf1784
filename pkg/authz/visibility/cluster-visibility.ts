import { type Identity, isSuperuser } from '../../apirequest/identity/identity.ts'
import type { RequestInfo } from '../../apirequest/request-info.ts'
import { type BoundedCache, createBoundedCache } from '../../cache/bounded-cache.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { authorizationExtra } from '../authorization-extra.ts'
import { review } from '../subject-access-review.ts'

export type ClusterVisibilityOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  /** Calls back when cluster-wide grants may have changed. */
  readonly onClusterChange: (listener: () => void) => void
}

/** The attributes of a request that determine its visibility. */
export type Asked = Pick<RequestInfo, 'verb' | 'resource' | 'name'>

/**
 * Checks whether a caller may list all namespaces (or workspaces), or access the one named in the
 * request.
 */
export type ClusterVisibility = {
  /** @throws Status 503 when kube-apiserver is not responding */
  readonly of: (asked: Asked, identity: Identity) => Promise<boolean>
  /** Cache generation; incremented when the cached decisions are invalidated. */
  readonly round: () => number
  /**
   * Calls a listener after each such change, one at a time, until the returned function is called.
   */
  readonly onRound: (listener: () => Promise<void>) => () => void
}

const cacheMs = 10_000
const maxCacheBytes = 2 * 1024 * 1024
// Longer than any real name; callers must not fill the cache.
const maxName = 253
// A change of a binding may arrive here before kube-apiserver's authorizer has it: the review is
// made soon, and once more after a delay.
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
  let known = createKnown()
  let rounds = 0
  let isDue = false
  let late: NodeJS.Timeout | undefined

  async function may(
    // A decision that was requested before a change must not be cached after it.
    cache: BoundedCache<boolean>,
    identity: Identity,
    resourceAttributes: Readonly<Record<string, string>>,
  ): Promise<boolean> {
    const { username: user, uid, groups } = identity
    const extra = authorizationExtra(identity)
    const key = JSON.stringify([resourceAttributes, user, uid, groups, extra])
    const found = cache.get(key)
    if (found !== undefined) return found
    const { isAllowed } = await review(client, { user, uid, groups, extra, resourceAttributes })
    cache.set(key, isAllowed, cacheMs)
    return isAllowed
  }

  async function look(): Promise<void> {
    known = createKnown()
    rounds++
    // A thousand watches must not cause a thousand concurrent reviews.
    for (const listener of [...listeners]) await listener()
  }

  onClusterChange(() => {
    clearTimeout(late)
    late = setTimeout(look, lookMs.late).unref()
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      void look()
    }, lookMs.soon).unref()
  })

  return {
    async of({ verb, resource, name }, identity) {
      if (isSuperuser(identity)) return true
      const group = resource === 'workspaces' ? `tenant.${groupDomain}` : ''
      if (await may(known.all, identity, { verb: 'list', group, resource })) return true
      if (name === '' || name.length > maxName) return false
      // kube-apiserver treats a namespace as inside itself, so a RoleBinding in it can grant access
      // to it.
      const namespace = resource === 'namespaces' ? { namespace: name } : {}
      return may(known.named, identity, { verb, group, resource, name, ...namespace })
    },
    round: () => rounds,
    onRound(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Two caches, so that many lookups by name cannot evict the cluster-wide decisions. */
function createKnown() {
  const create = () => createBoundedCache<boolean>({ maxBytes: maxCacheBytes, sizeOf: () => 0 })
  return { all: create(), named: create() }
}
