import { findPaths, type Steps } from '../../json/path.ts'
import type { Entry } from './cached-object.ts'

/**
 * Looks values up in the bytes of objects, once for each version of an object: what comes of them is remembered, and should be
 * small, since there is one for each object and query.
 *
 * @param judge is given the source text of one value for each path, in their order; undefined for a path that leads nowhere
 */
export function createReading<Result>(
  paths: readonly Steps[],
  judge: (values: readonly (string | undefined)[]) => Result,
): (entry: Entry) => Result {
  const known = new WeakMap<Entry, { readonly result: Result }>()
  // The bulk of an object is looked through only for those who look into it.
  const isMetadataOnly = paths.every(([first]) => first === 'metadata')

  return entry => {
    const found = known.get(entry)
    if (found !== undefined) return found.result
    const json = `${entry.platformHead()}${isMetadataOnly ? '}' : entry.tail}`
    const result = judge(findPaths(json, paths))
    known.set(entry, { result })
    return result
  }
}
