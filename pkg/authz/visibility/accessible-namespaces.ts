import { hash } from 'node:crypto'
import { type Identity, isSuperuser } from '../../apirequest/identity/identity.ts'
import { toResourceInfo } from '../../apirequest/request-info.ts'
import { createBoundedCache } from '../../cache/bounded-cache.ts'
import { createSingleFlight } from '../../cache/single-flight.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { createIdentityKey } from '../authorizer.ts'
import type { GrantIndex } from '../rbac/rbac-index.ts'
import type { Permission } from '../rbac/rbac-rules.ts'
import type { RbacCheck } from '../review/rbac-check.ts'
import { reviewAccess } from '../subject-access-review.ts'
import { confirmNamespaces, confirmSample, maxReviews } from './confirm-namespaces.ts'

/** The namespaces with a permission; 'everywhere' includes cluster-scoped objects. */
export type NamespaceAccess = 'everywhere' | readonly string[]

export type NamespaceFinderOptions = {
  readonly client: KubeClient
  readonly index: Pick<GrantIndex, 'grantsOf'>
  readonly permission: Permission
  /** Detects changes of roles and bindings, after which a cached result may be wrong. */
  readonly rbac: RbacCheck
}

/** The namespaces in which RBAC grants a permission to a caller. */
type GrantedNamespaces = {
  readonly isEverywhere: boolean
  readonly names: number
  readonly digest: string
}

type CachedAccess = { readonly reach: NamespaceAccess; readonly digest: string; generation: number }

const cacheMs = 10_000
// The authorizer of kube-apiserver may receive a change after this program.
const contestedMs = 1_000
const maxCacheBytes = 16 * 1024 * 1024

/**
 * Finds the namespaces in which a caller has a permission. A SubjectAccessReview checks the whole
 * cluster. Otherwise namespaces come from role bindings, and a review confirms each. If there are
 * many, a sample is reviewed first: if it agrees with the bindings they are trusted, otherwise
 * another authorizer denies, and each is reviewed. The result is cached, unless a change of roles or
 * bindings affects it; a cached result is the same object.
 *
 * @throws Status 503 if kube-apiserver is not responding
 */
export function createNamespaceFinder(
  options: NamespaceFinderOptions,
): (identity: Identity) => Promise<NamespaceAccess> {
  const { rbac } = options
  const known = createBoundedCache<CachedAccess>({
    maxBytes: maxCacheBytes,
    // 8 bytes per name: the strings are shared with the index of bindings.
    sizeOf: ({ reach }) => 8 * reach.length,
  })
  const share = createSingleFlight<NamespaceAccess>()
  const identityKey = createIdentityKey()
  const grantedTo = createGrants(options)

  return async identity => {
    if (isSuperuser(identity)) return 'everywhere'
    const key = identityKey(identity)
    const found = known.get(key)
    const generation = rbac.generation()
    if (found?.generation === generation) return found.reach
    const granted = grantedTo(identity)
    if (found !== undefined && found.digest === granted?.digest) {
      found.generation = generation
      return found.reach
    }
    const reach = await share(`${generation} ${key}`, () => findReach(options, identity))
    const lifetimeMs = isSettled(reach, granted, found !== undefined) ? cacheMs : contestedMs
    known.set(key, { reach, digest: granted?.digest ?? '', generation }, lifetimeMs)
    return reach
  }
}

/** Returns a function that finds what RBAC grants to a caller; undefined before the first lists. */
function createGrants({ index, permission, rbac }: NamespaceFinderOptions) {
  const info = toResourceInfo(permission)
  return (identity: Identity): GrantedNamespaces | undefined => {
    const isEverywhere = rbac.allows(info, identity)
    if (isEverywhere === undefined) return undefined
    const names = boundNames(index, identity)
    const digest = hash('sha256', JSON.stringify([isEverywhere, names]), 'base64')
    return { isEverywhere, names: names.length, digest }
  }
}

/**
 * Reports whether a result may be cached: it is what RBAC grants, or what another authorizer made
 * of it, since no change is recent.
 */
function isSettled(
  reach: NamespaceAccess,
  granted: GrantedNamespaces | undefined,
  isRecent: boolean,
): boolean {
  if (granted === undefined) return true
  const { isEverywhere, names } = granted
  const isAll = reach === 'everywhere'
  const agrees = isAll === isEverywhere && (isAll || reach.length === names)
  if (agrees) return true
  const isLess = isAll ? false : isEverywhere || reach.length < names
  // Many reviews are not repeated every second.
  return names > maxReviews || (!isRecent && !isLess)
}

/** Returns the namespaces whose role bindings grant the permission to a caller. */
function boundNames(index: Pick<GrantIndex, 'grantsOf'>, identity: Identity): readonly string[] {
  return [...new Set(index.grantsOf(identity).flatMap(({ namespaces }) => namespaces))].sort()
}

async function findReach(
  { client, index, permission }: NamespaceFinderOptions,
  identity: Identity,
): Promise<NamespaceAccess> {
  const may = async (namespace: string) =>
    (await reviewAccess(client, toResourceInfo({ ...permission, namespace }), identity)).isAllowed
  if (await may('')) return 'everywhere'
  const names = boundNames(index, identity)
  if (names.length > maxReviews && (await confirmSample(names, may))) return names
  return confirmNamespaces(names, may)
}
