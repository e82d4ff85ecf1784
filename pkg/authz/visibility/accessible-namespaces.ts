import { type Identity, isSuperuser } from '../../apirequest/identity/identity.ts'
import { toResourceInfo } from '../../apirequest/request-info.ts'
import { createBoundedCache } from '../../cache/bounded-cache.ts'
import { createSingleFlight } from '../../cache/single-flight.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { createIdentityKey } from '../authorizer.ts'
import type { GrantIndex } from '../rbac/rbac-index.ts'
import type { Permission } from '../rbac/rbac-rules.ts'
import { review } from '../subject-access-review.ts'
import { confirmNamespaces, confirmSample, maxReviews } from './confirm-namespaces.ts'

/** The namespaces with a permission; 'everywhere' includes cluster-scoped objects. */
export type NamespaceAccess = 'everywhere' | readonly string[]

export type NamespaceFinderOptions = {
  readonly client: KubeClient
  readonly index: Pick<GrantIndex, 'grantsOf'>
  readonly permission: Permission
}

const cacheMs = 10_000
const maxCacheBytes = 16 * 1024 * 1024

/**
 * Finds the namespaces in which a caller has a permission. A SubjectAccessReview checks the whole
 * cluster. Otherwise namespaces come from role bindings, and a review confirms each. If there are
 * many, a sample is reviewed first: if it agrees with the bindings they are trusted, otherwise
 * another authorizer denies, and each is reviewed.
 *
 * @throws Status 503 if kube-apiserver is not responding
 */
export function createNamespaceFinder(
  options: NamespaceFinderOptions,
): (identity: Identity) => Promise<NamespaceAccess> {
  const known = createBoundedCache<NamespaceAccess>({
    maxBytes: maxCacheBytes,
    // 8 bytes per name: the strings are shared with the index of bindings.
    sizeOf: reach => 8 * reach.length,
  })
  const share = createSingleFlight<NamespaceAccess>()
  const identityKey = createIdentityKey()

  return async identity => {
    if (isSuperuser(identity)) return 'everywhere'
    const key = identityKey(identity)
    const found = known.get(key)
    if (found !== undefined) return found
    const reach = await share(key, () => findReach(options, identity))
    known.set(key, reach, cacheMs)
    return reach
  }
}

async function findReach(
  { client, index, permission }: NamespaceFinderOptions,
  identity: Identity,
): Promise<NamespaceAccess> {
  const may = async (namespace: string) =>
    (await review(client, toResourceInfo({ ...permission, namespace }), identity)).isAllowed
  if (await may('')) return 'everywhere'
  const names = [...new Set(index.grantsOf(identity).flatMap(({ namespaces }) => namespaces))]
  if (names.length > maxReviews && (await confirmSample(names, may))) return names
  return confirmNamespaces(names, may)
}
