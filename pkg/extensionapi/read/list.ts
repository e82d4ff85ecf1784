import { expired } from '../../apierrors/status.ts'
import { formatShardSelector } from '../../apirequest/selector/shard-selector.ts'
import { toCacheKey } from '../../cache/bounded-cache.ts'
import { waitForLatest, waitForVersion } from '../../resourcecache/informer/wait-for-resource-version.ts'
import {
  assertCurrent,
  type ObjectVisibility,
  recordVisibleFrom,
  visibilityChanged,
} from '../../resourcecache/list/object-visibility.ts'
import { byKey } from '../../resourcecache/list/order.ts'
import type { CachedObject } from '../../resourcecache/store/cached-object.ts'
import {
  type Chunk,
  countEntries,
  entriesWithin,
  offsetAfter,
  type Selection,
  selectPage,
  toChunks,
} from '../../resourcecache/store/chunk.ts'
import type { ObjectStore, Scope } from '../../resourcecache/store/store.ts'
import { buildViewInSlices, matchInSlices } from '../../resourcecache/store/time-sliced-view.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import { formatContinueToken, inconsistent, parseContinueToken } from './continue-token.ts'
import { isExact, isSelective, type ListOptions, matchesOptions } from './list-options.ts'

/** A list, or one page of it, with its metav1.ListMeta. */
export type ListResult = {
  readonly selection: Selection
  readonly metadata: {
    resourceVersion: string
    shardInfo?: { selector: string }
    continue?: string
    remainingItemCount?: number
  }
}

/**
 * Serves a list with the semantics of kube-apiserver: resourceVersion and resourceVersionMatch;
 * limit and continue on a consistent snapshot.
 *
 * @param selectorKey cache key of the selectors; lists with the same key share a materialized view
 * @param visible the objects that the caller may see; undefined for all
 * @throws Status 410 if the requested version is no longer available, 504 if it is in the future
 */
export async function listObjects(
  store: ObjectStore,
  options: ListOptions,
  selectorKey: string,
  {
    timeSlices,
    visible,
  }: { readonly timeSlices: TimeSlices; readonly visible?: ObjectVisibility | undefined },
): Promise<ListResult> {
  await recordVisibleFrom(store, visible)
  // A continued list must show the same objects as its first page, so the token identifies them.
  const view = visible?.fixed && { view: visible.key }
  const start = await startOf(store, options, view)
  const isNarrowed = isSelective(options) || options.namespace !== '' || visible !== undefined
  const chunks = isNarrowed
    ? await select(store, options, { ...start, selectorKey, timeSlices, visible })
    : start.chunks
  assertCurrent(visible)
  const size = countEntries(chunks)
  const offset = start.after === '' ? 0 : offsetAfter(chunks, start.after)
  // With resourceVersion=0 the limit is ignored, as in kube-apiserver: any state is acceptable, and
  // the whole list costs no more than a page.
  const isChunked = options.limit > 0 && options.resourceVersion !== '0'
  const count = isChunked ? options.limit : size
  const selection = selectPage(chunks, { offset, count, descending: false, size })
  const { shards } = options
  const shardInfo = shards.length > 0 ? { selector: formatShardSelector(shards) } : undefined
  const state = { resourceVersion: String(start.version), ...(shardInfo && { shardInfo }) }
  const remaining = size - offset - count
  const last = selection.runs.at(-1)
  if (remaining <= 0 || last === undefined) return { selection, metadata: state }
  const key = last.chunk.entries[last.end - 1]?.key ?? ''
  const metadata = {
    ...state,
    continue: formatContinueToken({ version: start.version, key, ...view }),
  }
  // Like kube-apiserver, omits the number of remaining items if there is a selector.
  return {
    selection,
    metadata: isSelective(options) ? metadata : { ...metadata, remainingItemCount: remaining },
  }
}

/** The part of a continue token that identifies the objects of a narrowed list. */
type View = { readonly view: string } | undefined

type Start = { readonly version: number; readonly after: string; readonly chunks: readonly Chunk[] }

async function startOf(store: ObjectStore, options: ListOptions, view: View): Promise<Start> {
  if (options.continueToken !== '') return resume(store, options, view)
  if (options.resourceVersion === '') await waitForLatest(store, scopeOf(store, options))
  else await waitForVersion(store, options.resourceVersion)
  const requested = Number(options.resourceVersion)
  if (!isExact(options) || requested === store.version) {
    return { version: store.version, after: '', chunks: store.snapshot() }
  }
  const chunks = store.at(requested)
  if (chunks === undefined)
    throw expired(`The resourceVersion for the provided list is too old: ${requested}`)
  return { version: requested, after: '', chunks }
}

/** Returns the namespace and name to select. A name is only used if the namespace is known. */
function scopeOf(store: ObjectStore, options: ListOptions): Scope {
  const { namespace } = options
  const isComplete = namespace !== '' || !store.served.kind.namespaced
  return { namespace, name: isComplete ? (pinnedName(options) ?? '') : '' }
}

function pinnedName({ fields }: ListOptions): string | undefined {
  return fields.find(({ field, operator }) => field === 'metadata.name' && operator === '=')?.value
}

async function resume(store: ObjectStore, options: ListOptions, view: View): Promise<Start> {
  const { version, key, view: first } = parseContinueToken(options.continueToken)
  if (first !== view?.view) throw expired(`${visibilityChanged} since the first chunk of this list`)
  if (version === inconsistent) {
    await waitForLatest(store, scopeOf(store, options))
    return { version: store.version, after: key, chunks: store.snapshot() }
  }
  // The first page may come from another replica with a newer state.
  await waitForVersion(store, String(version))
  const chunks = store.at(version)
  if (chunks !== undefined) return { version, after: key, chunks }
  throw expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list: objects that were created, modified or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
    formatContinueToken({ version: inconsistent, key, ...view }),
  )
}

async function select(
  store: ObjectStore,
  options: ListOptions,
  start: Start & {
    readonly selectorKey: string
    readonly timeSlices: TimeSlices
    readonly visible: ObjectVisibility | undefined
  },
): Promise<readonly Chunk[]> {
  const { selectorKey, visible } = start
  const isSelected = matchesOptions(options)
  const namespaces = options.namespace === '' ? visible?.namespaces : new Set([options.namespace])
  const matches = visible ? (entry: CachedObject) => isSelected(entry) && visible.has(entry) : isSelected
  if (start.version === store.version) {
    // A single object is looked up by name: it needs no materialized view.
    const pinned = store.served.kind.namespaced ? undefined : pinnedName(options)
    const entry = pinned === undefined ? undefined : store.get('', pinned)
    if (entry) return toChunks([entry].filter(matches))
    const key = toCacheKey(`key ${JSON.stringify([selectorKey, visible?.key])}`)
    const view = buildViewInSlices(store, { key, matches, namespaces, order: byKey }, start.timeSlices)
    return (view instanceof Promise ? await view : view).snapshot()
  }
  const entries = [...entriesWithin(start.chunks, namespaces)]
  const known = await matchInSlices(entries, matches, start.timeSlices)
  return toChunks(entries.filter(entry => known.get(entry)))
}
