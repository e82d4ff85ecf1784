import type { Turns } from '../../scheduling/time-slices.ts'
import type { Entry } from './cached-object.ts'
import type { View, ViewQuery } from './materialized-view.ts'
import type { Collection } from './store.ts'

// A scan of this few objects is faster than waiting for a time slice.
const few = { objects: 200, bytes: 1024 * 1024 }

/**
 * Builds a view in time slices that it shares with other requests that build views: otherwise each
 * would take a slice per turn, and all other requests would wait for their sum.
 *
 * @param rank extracts the sort value of an object
 */
export function viewInTurns(
  collection: Collection,
  query: ViewQuery,
  turns: Turns,
  rank?: (entry: Entry) => unknown,
): View | Promise<View> {
  const isSmall = collection.size <= few.objects && collection.bytes <= few.bytes
  if (isSmall || collection.hasView(query.key)) return collection.view(query)
  return matchInTurns(collection.entries(), query.matches, turns, rank).then(known =>
    collection.view(query, entry => known.get(entry) ?? query.matches(entry)),
  )
}

/** @returns for each entry whether it matches */
export async function matchInTurns(
  entries: Iterable<Entry>,
  matches: (entry: Entry) => boolean,
  turns: Turns,
  rank?: (entry: Entry) => unknown,
): Promise<ReadonlyMap<Entry, boolean>> {
  const known = new Map<Entry, boolean>()
  const all = [...entries]
  await turns.next()
  let since = performance.now()
  for (const entry of all) {
    const isMatch = matches(entry)
    known.set(entry, isMatch)
    if (isMatch) rank?.(entry)
    if (performance.now() - since < turns.sliceMs) continue
    await turns.next()
    since = performance.now()
  }
  return known
}
