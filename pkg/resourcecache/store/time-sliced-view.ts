import type { Turns } from '../../scheduling/time-slices.ts'
import type { Entry } from './cached-object.ts'
import type { View, ViewQuery } from './materialized-view.ts'
import type { Collection } from './store.ts'

// So few are looked through faster than a turn comes.
const few = { objects: 200, bytes: 1024 * 1024 }

/**
 * The objects that a query selects. What has to be looked through first is looked through in turns with the other requests that
 * do so: each request would take a slice of time, and all others would wait for the sum of them.
 *
 * @param rank looks up in an object what it is sorted by
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
