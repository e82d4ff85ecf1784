import { isRecord } from '../../../../kubeclient/object/object.ts'

/** JSON Merge Patch (RFC 7396): null removes, an object is merged, all else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch
  const merged = new Map(Object.entries(isRecord(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}
