import { toStatus } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { toCacheKey } from '../../cache/bounded-cache.ts'
import { isOver } from '../../httpserver/response/respond.ts'
import type { Kind } from '../../resourcecache/kind.ts'
import { type ListRestriction, toListPredicate } from '../../resourcecache/list/list-predicate.ts'
import type { CachedObject } from '../../resourcecache/store/cached-object.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import type { CollectList } from './subrequest.ts'

export type OwnerTools = {
  readonly collect: CollectList
  /** Returns a kind by its group and the kind in ownerReferences. @throws Status 503 */
  readonly findByKind: (group: string, kind: string) => Promise<Kind | undefined>
}

// Limits the number of lists: an object may have ownerReferences to any number of kinds.
const maxKinds = 16

/** The uids of the direct children of an owner, by the uid of the owner. */
type Children = Map<string, string[]>

/**
 * Restricts a list to the objects that an owner (by uid) owns through at most `seniority`
 * intermediate owners: with 1, the pods of a Deployment, which ReplicaSets own. Intermediate owners
 * are listed as the caller, each kind in a separate request; a warning names kinds that the caller
 * may not list.
 */
export async function restrictToOwner(
  { collect, findByKind }: OwnerTools,
  exchange: AuthenticatedExchange,
  list: {
    readonly entries: Iterable<CachedObject>
    /** Returns whether the caller may see an entry and has selected it. */
    readonly matches: (entry: CachedObject) => boolean
    readonly uid: string
    readonly seniority: number
    readonly timeSlices: TimeSlices
  },
): Promise<{ readonly restriction: ListRestriction; readonly warnings: readonly string[] }> {
  const { uid, seniority, timeSlices } = list
  const seen = new Set<string>()
  const children: Children = new Map()
  const warnings: string[] = []

  /** @returns the kinds of the owners of the listed objects */
  async function collectKind(reference: string): Promise<Iterable<string>> {
    const [apiVersion = '', name = ''] = reference.split(' ')
    const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
    const kind = await findByKind(group, name)
    if (kind === undefined) {
      warnings.push(`owners of kind ${name.slice(0, 63)} are skipped: kube-apiserver does not serve it`)
      return []
    }
    try {
      const { store, request } = (await collect(exchange, toPath(exchange, kind))).list
      const { matches, namespaces } = toListPredicate(store.served.kind, request)
      return await readOwners(store.entriesInNamespaces(namespaces), { matches, timeSlices, children })
    } catch (error) {
      warnings.push(`owners of kind ${name} are skipped: ${toStatus(error).message}`)
      return []
    }
  }

  let level = new Set(await readOwners(list.entries, list))
  for (let depth = 0; depth < seniority && level.size > 0; depth++) {
    const found = [...level].filter(reference => !seen.has(reference))
    const kinds = found.slice(0, Math.max(maxKinds - seen.size, 0))
    if (kinds.length < found.length)
      warnings.push(`owners of ${found.length - kinds.length} more kinds are skipped`)
    level = new Set()
    for (const reference of kinds) {
      if (isOver(exchange.res)) break
      seen.add(reference)
      for (const owner of await collectKind(reference)) level.add(owner)
    }
  }
  const descendants = descendantsOf(uid, children, seniority)
  return {
    restriction: {
      key: `owners ${toCacheKey(JSON.stringify([...descendants]))}`,
      matches: ({ meta }) => ownersOf(meta).some(owner => descendants.has(owner)),
    },
    warnings,
  }
}

/** Returns the uids of an owner and of its descendants. Cycles of ownerReferences are detected. */
function descendantsOf(uid: string, children: Children, seniority: number): ReadonlySet<string> {
  const found = new Set([uid])
  let last = [uid]
  for (let step = 0; step < seniority && last.length > 0; step++) {
    const next = new Set(last.flatMap(owner => children.get(owner) ?? []))
    last = [...next].filter(child => !found.has(child))
    for (const child of last) found.add(child)
  }
  return found
}

function ownersOf({ ownerReferences = [] }: CachedObject['meta']): readonly string[] {
  return ownerReferences.map(owner => owner.uid)
}

/** Returns the path of a list of the kind, in the namespace of the request if it has one. */
function toPath({ info }: AuthenticatedExchange, { source, plural, namespaced }: Kind): string {
  const scope = namespaced && info.isInNamespace ? `/namespaces/${info.namespace}` : ''
  const prefix = source.group === '' ? '/kapi' : `/kapis/${source.group}`
  return `${prefix}/${source.version}${scope}/${plural}`
}

/**
 * Reads the owners of the matching objects, in time slices.
 *
 * @param children receives the uids of the objects by the uid of their owner
 * @returns the kinds of the owners, as `apps/v1 ReplicaSet`
 */
async function readOwners(
  entries: Iterable<CachedObject>,
  {
    matches,
    timeSlices,
    children,
  }: {
    readonly matches: (entry: CachedObject) => boolean
    readonly timeSlices: TimeSlices
    readonly children?: Children
  },
): Promise<Iterable<string>> {
  const kinds = new Set<string>()
  let since = performance.now()
  for (const entry of [...entries]) {
    const { uid, ownerReferences = [] } = entry.meta
    if (ownerReferences.length > 0 && matches(entry))
      for (const owner of ownerReferences) {
        kinds.add(`${owner.apiVersion ?? ''} ${owner.kind}`)
        const known = children?.get(owner.uid)
        if (known === undefined) children?.set(owner.uid, [uid])
        else known.push(uid)
      }
    if (performance.now() - since < timeSlices.sliceMs) continue
    await timeSlices.next()
    since = performance.now()
  }
  return kinds
}
