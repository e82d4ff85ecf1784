import { isMapping } from './coerce.ts'
import { type Config, document } from './config.ts'
import { optionsOf } from './option-list.ts'

/** Returns the paths of options that can change at run time; all others need a restart. */
export function reloadablePaths(): ReadonlySet<string> {
  return new Set(optionsOf(document).flatMap(({ path, isReloaded }) => (isReloaded ? [path] : [])))
}

/** Returns the reloadable options of `next`, and the other options of `started`. */
export function applyReloadable(started: Config, next: Config): Config {
  const paths = reloadablePaths()
  return merge(started, next, path => paths.has(path))
}

/** Returns the paths of fields in which two configurations differ, in the order of the file. */
export function differences(before: object, after: object): readonly string[] {
  const [old, now] = [flatten(before), flatten(after)]
  const paths = new Set([...old.keys(), ...now.keys()])
  return [...paths].filter(path => old.get(path) !== now.get(path))
}

function merge<T extends object>(base: T, over: T, isTaken: (path: string) => boolean, prefix = ''): T {
  const result = { ...base }
  for (const key of keysOf(base)) {
    const path = `${prefix}${String(key)}`
    const [old, now] = [base[key], over[key]]
    if (isTaken(path)) result[key] = now
    else if (isMapping(old) && isMapping(now)) result[key] = merge(old, now, isTaken, `${path}.`)
  }
  return result
}

/** Returns every field by path; a list is one field. */
function flatten(value: object, prefix = ''): ReadonlyMap<string, string> {
  const members = Object.entries(value).flatMap(([key, inner]): [string, string][] => {
    const path = prefix === '' ? key : `${prefix}.${key}`
    return isMapping(inner) ? [...flatten(inner, path)] : [[path, JSON.stringify(inner)]]
  })
  return new Map(members)
}

function keysOf<T extends object>(value: T): readonly (keyof T)[] {
  return Object.keys(value).filter((key): key is keyof T & string => key in value)
}
