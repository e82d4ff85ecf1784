import { findPaths, type Steps } from '../../json/path.ts'
import type { CachedObject } from './cached-object.ts'

/**
 * Extracts values from the bytes of objects, once per version of an object. Results are cached per
 * object and query, so they should be small.
 *
 * @param judge called with the JSON text of the value at each path, in order; undefined for a
 * missing value
 */
export function createFieldExtractor<Result>(
  paths: readonly Steps[],
  judge: (values: readonly (string | undefined)[]) => Result,
): (entry: CachedObject) => Result {
  const known = new WeakMap<CachedObject, { readonly result: Result }>()
  // The tail of an object is only searched if a path refers to it.
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
