import type { TimeSlices } from '../../scheduling/time-slices.ts'
import type { CachedObject } from './cached-object.ts'
import type { View, ViewQuery } from './materialized-view.ts'
import type { ObjectStore } from './store.ts'

// Scanning this few objects is faster than waiting for a time slice.
const few = { objects: 200, bytes: 1024 * 1024 }

/**
 * Builds a view in time slices that all such requests share. If each request took a slice per
 * event-loop turn, all other requests would wait for the sum.
 *
 * @param rank extracts the sort value of an object
 */
export function buildViewInSlices(
  store: ObjectStore,
  query: ViewQuery,
  timeSlices: TimeSlices,
  rank?: (entry: CachedObject) => unknown,
): View | Promise<View> {
  if (store.hasView(query.key)) return store.view(query)
  const entries = query.namespaces && [...store.entriesInNamespaces(query.namespaces)]
  const { size, bytes } = entries ? measure(entries) : store
  if (size <= few.objects && bytes <= few.bytes) return store.view(query)
  return matchInSlices(entries ?? store.entries(), query.matches, timeSlices, rank).then(known =>
    store.view(query, entry => known.get(entry) ?? query.matches(entry)),
  )
}

function measure(entries: readonly CachedObject[]): { readonly size: number; readonly bytes: number } {
  return { size: entries.length, bytes: entries.reduce((sum, { size }) => sum + size, 0) }
}

/** @returns a function that returns whether an entry matches */
export async function matchInSlices(
  entries: Iterable<CachedObject>,
  matches: (entry: CachedObject) => boolean,
  timeSlices: TimeSlices,
  rank?: (entry: CachedObject) => unknown,
): Promise<ReadonlyMap<CachedObject, boolean>> {
  const known = new Map<CachedObject, boolean>()
  const all = [...entries]
  await timeSlices.next()
  let since = performance.now()
  for (const entry of all) {
    const isMatch = matches(entry)
    known.set(entry, isMatch)
    if (isMatch) rank?.(entry)
    if (performance.now() - since < timeSlices.sliceMs) continue
    await timeSlices.next()
    since = performance.now()
  }
  return known
}
