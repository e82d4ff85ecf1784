import { expired } from '../../apierrors/status.ts'
import { toCacheKey } from '../../cache/bounded-cache.ts'
import { waitForLatest, waitForVersion } from '../../resourcecache/informer/wait-for-resource-version.ts'
import type { Visible } from '../../resourcecache/list/object-visibility.ts'
import { byKey } from '../../resourcecache/list/order.ts'
import {
  countEntries,
  type Leaf,
  offsetAfter,
  type Selection,
  selectPage,
  toLeaves,
} from '../../resourcecache/store/chunk.ts'
import type { Collection, Scope } from '../../resourcecache/store/store.ts'
import { matchInTurns, viewInTurns } from '../../resourcecache/store/time-sliced-view.ts'
import type { Turns } from '../../scheduling/time-slices.ts'
import { formatContinueToken, inconsistent, parseContinueToken } from './continue-token.ts'
import { isExact, isSelective, type ListOptions, matchesOptions } from './list-options.ts'

/** A list, or one page of it, with its metav1.ListMeta. */
export type ListResult = {
  readonly selection: Selection
  readonly metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }
}

/**
 * Serves a list with the semantics of kube-apiserver: resourceVersion and resourceVersionMatch;
 * limit and continue on a consistent snapshot.
 *
 * @param selectorKey the unparsed selectors; lists with the same selectors share a materialized
 * view
 * @param visible the visible objects, if the caller may not see all
 * @throws Status 410 if the requested version is no longer available, 504 if it is in the future
 */
export async function listObjects(
  collection: Collection,
  options: ListOptions,
  selectorKey: string,
  { turns, visible }: { readonly turns: Turns; readonly visible?: Visible | undefined },
): Promise<ListResult> {
  const start = await startOf(collection, options)
  const isNarrowed = isSelective(options) || options.namespace !== ''
  const selected = isNarrowed
    ? await select(collection, options, { ...start, selectorKey, turns })
    : start.leaves
  const leaves = visible ? toLeaves(selected.flatMap(leaf => leaf.entries.filter(visible.has))) : selected
  const size = countEntries(leaves)
  const offset = start.after === '' ? 0 : offsetAfter(leaves, start.after)
  // At version 0 any state is acceptable and the whole list costs no more than a page;
  // kube-apiserver does not page it either.
  const isChunked = options.limit > 0 && options.resourceVersion !== '0'
  const count = isChunked ? options.limit : size
  const selection = selectPage(leaves, { offset, count, descending: false, size })
  const resourceVersion = String(start.version)
  const remaining = size - offset - count
  const last = selection.runs.at(-1)
  if (remaining <= 0 || last === undefined) return { selection, metadata: { resourceVersion } }
  const key = last.leaf.entries[last.end - 1]?.key ?? ''
  const metadata = { resourceVersion, continue: formatContinueToken({ version: start.version, key }) }
  // With a selector kube-apiserver does not know the rest, and clients must not rely on it.
  return {
    selection,
    metadata: isSelective(options) ? metadata : { ...metadata, remainingItemCount: remaining },
  }
}

type Start = { readonly version: number; readonly after: string; readonly leaves: readonly Leaf[] }

async function startOf(collection: Collection, options: ListOptions): Promise<Start> {
  if (options.continueToken !== '') return resume(collection, options)
  if (options.resourceVersion === '') await waitForLatest(collection, scopeOf(collection, options))
  else await waitForVersion(collection, options.resourceVersion)
  const wanted = Number(options.resourceVersion)
  if (!isExact(options) || wanted === collection.version) {
    return { version: collection.version, after: '', leaves: collection.snapshot() }
  }
  const leaves = collection.at(wanted)
  if (leaves === undefined) throw expired(`The resourceVersion for the provided list is too old: ${wanted}`)
  return { version: wanted, after: '', leaves }
}

/** A name selects a single object, if its namespace is known. */
function scopeOf(collection: Collection, options: ListOptions): Scope {
  const { namespace } = options
  const isComplete = namespace !== '' || !collection.served.kind.namespaced
  return { namespace, name: isComplete ? (pinnedName(options) ?? '') : '' }
}

function pinnedName({ fields }: ListOptions): string | undefined {
  return fields.find(({ field, operator }) => field === 'metadata.name' && operator === '=')?.value
}

async function resume(collection: Collection, options: ListOptions): Promise<Start> {
  const { version, key } = parseContinueToken(options.continueToken)
  if (version === inconsistent) {
    await waitForLatest(collection, scopeOf(collection, options))
    return { version: collection.version, after: key, leaves: collection.snapshot() }
  }
  // Another replica with a newer state may have returned the first page.
  await waitForVersion(collection, String(version))
  const leaves = collection.at(version)
  if (leaves !== undefined) return { version, after: key, leaves }
  throw expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list: objects that were created, modified or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
    formatContinueToken({ version: inconsistent, key }),
  )
}

async function select(
  collection: Collection,
  options: ListOptions,
  start: Start & { readonly selectorKey: string; readonly turns: Turns },
): Promise<readonly Leaf[]> {
  const matches = matchesOptions(options)
  if (start.version === collection.version) {
    // A name selects at most one object: no view is created for it.
    const pinned = collection.served.kind.namespaced ? undefined : pinnedName(options)
    const entry = pinned === undefined ? undefined : collection.get('', pinned)
    if (entry) return toLeaves([entry].filter(matches))
    const key = toCacheKey(`key ${start.selectorKey}`)
    const view = viewInTurns(collection, { key, matches, order: byKey }, start.turns)
    return (view instanceof Promise ? await view : view).snapshot()
  }
  const entries = start.leaves.flatMap(leaf => leaf.entries)
  const known = await matchInTurns(entries, matches, start.turns)
  return toLeaves(entries.filter(entry => known.get(entry)))
}
