import { toStatus } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { isOver } from '../../httpserver/response/respond.ts'
import type { Kind } from '../../resourcecache/kind.ts'
import { type ListRestriction, toListPredicate } from '../../resourcecache/list/list-predicate.ts'
import type { Entry } from '../../resourcecache/store/cached-object.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import type { CollectedList } from './list-collector.ts'
import type { CollectList } from './subrequest.ts'

export type OwnerTools = {
  readonly collect: CollectList
  /** A kind by its group and the name in ownerReferences. @throws Status 503 */
  readonly findByKind: (group: string, kind: string) => Promise<Kind | undefined>
}

// An owner that does not exist can be named by anyone who may write an object.
const maxKinds = 16

/** Owners of an object in between, by uid. */
type Owners = Map<string, readonly string[]>

/**
 * Restricts a list to the objects that an owner (by uid) has through at most `seniority` owners in
 * between: with 1, the pods of a Deployment, which ReplicaSets own. The owners in between are listed
 * as the caller, each kind as a request of its own; a warning names what the caller may not list.
 */
export async function restrictToOwner(
  { collect, findByKind }: OwnerTools,
  exchange: AuthenticatedExchange,
  list: {
    readonly entries: Iterable<Entry>
    /** Which of them the caller may see, and has asked for. */
    readonly matches: (entry: Entry) => boolean
    readonly uid: string
    readonly seniority: number
    readonly timeSlices: TimeSlices
  },
): Promise<{ readonly restriction: ListRestriction; readonly warnings: readonly string[] }> {
  const { uid, seniority, timeSlices } = list
  const seen = new Set<string>()
  const owners: Owners = new Map()
  const warnings: string[] = []

  async function collectKind(reference: string): Promise<readonly Entry[]> {
    const [apiVersion = '', name = ''] = reference.split(' ')
    const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
    const kind = await findByKind(group, name)
    if (kind === undefined) {
      warnings.push(`owners of kind ${name.slice(0, 63)} are not looked at: kube-apiserver does not serve it`)
      return []
    }
    try {
      const { list: found } = await collect(exchange, toPath(exchange, kind))
      return await entriesOfList(found, timeSlices)
    } catch (error) {
      warnings.push(`owners of kind ${name} are not looked at: ${toStatus(error).message}`)
      return []
    }
  }

  let level: readonly Entry[] = await inSlices(list.entries, timeSlices, list.matches)
  for (let depth = 0; depth < seniority && level.length > 0; depth++) {
    const found = kindsOfOwners(level).filter(reference => !seen.has(reference))
    const kinds = found.slice(0, Math.max(maxKinds - seen.size, 0))
    if (kinds.length < found.length)
      warnings.push(`owners of ${found.length - kinds.length} more kinds are not looked at`)
    level = []
    for (const reference of kinds) {
      if (isOver(exchange.res)) break
      seen.add(reference)
      const entries = await collectKind(reference)
      for (const { meta } of entries) owners.set(meta.uid, ownersOf(meta))
      level = [...level, ...entries]
    }
  }
  const descendants = descendantsOf(uid, owners, seniority)
  return {
    restriction: {
      key: `owners ${JSON.stringify([...descendants].sort())}`,
      matches: ({ meta }) => ownersOf(meta).some(owner => descendants.has(owner)),
    },
    warnings,
  }
}

/** An owner, and what it has through others; a circle of owners ends the search. */
function descendantsOf(uid: string, owners: Owners, seniority: number): ReadonlySet<string> {
  const found = new Set([uid])
  for (let step = 0; step < seniority; step++) {
    const next = [...owners].filter(([own, of]) => !found.has(own) && of.some(owner => found.has(owner)))
    if (next.length === 0) break
    for (const [own] of next) found.add(own)
  }
  return found
}

function ownersOf({ ownerReferences = [] }: Entry['meta']): readonly string[] {
  return ownerReferences.map(owner => owner.uid)
}

/** The kinds of the owners of some objects, as `apps/v1 ReplicaSet`. */
function kindsOfOwners(entries: readonly Entry[]): readonly string[] {
  const kinds = new Set<string>()
  for (const { meta } of entries)
    for (const { apiVersion = '', kind } of meta.ownerReferences ?? []) kinds.add(`${apiVersion} ${kind}`)
  return [...kinds]
}

/** The list of a kind in the namespaces of a request. */
function toPath({ info }: AuthenticatedExchange, { source, plural, namespaced }: Kind): string {
  const scope = namespaced && info.isInNamespace ? `/namespaces/${info.namespace}` : ''
  const prefix = source.group === '' ? '/kapi' : `/kapis/${source.group}`
  return `${prefix}/${source.version}${scope}/${plural}`
}

async function entriesOfList({ store, request }: CollectedList, timeSlices: TimeSlices) {
  const { matches, namespaces } = toListPredicate(store.served.kind, request)
  return inSlices(store.within(namespaces), timeSlices, matches)
}

async function inSlices(
  entries: Iterable<Entry>,
  timeSlices: TimeSlices,
  matches: (entry: Entry) => boolean,
): Promise<readonly Entry[]> {
  const found: Entry[] = []
  let since = performance.now()
  for (const entry of [...entries]) {
    if ((entry.meta.ownerReferences ?? []).length > 0 && matches(entry)) found.push(entry)
    if (performance.now() - since < timeSlices.sliceMs) continue
    await timeSlices.next()
    since = performance.now()
  }
  return found
}
