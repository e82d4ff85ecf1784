import { eachChild, skipBlank, skipValue } from './scan.ts'

/** A path: field names and array indexes, outermost first. '*' matches any field or item. */
export type Steps = readonly (string | number)[]

/**
 * Returns the source text of the first value at each path, or undefined if there is none. Values
 * are not parsed, so numbers keep all digits. One scan serves all paths.
 */
export function findPaths(json: string, paths: readonly Steps[]): readonly (string | undefined)[] {
  const all = toLevel(
    paths.map((steps, index) => ({ index, steps })),
    0,
  )
  const { found } = scan(json, skipBlank(json, 0), all)
  return paths.map((_, index) => {
    const range = found.get(index)
    return range && json.slice(range.start, range.end)
  })
}

type Range = { readonly start: number; readonly end: number }
/** Found ranges by the index of their path. */
type PathMatches = ReadonlyMap<number, Range>
type Path = { readonly index: number; readonly steps: Steps }

/** Paths that lead through one value, grouped by their next step. */
type Level = {
  /** Paths that end at the value. */
  readonly ended: readonly Path[]
  /** Paths that continue to a named child. */
  readonly named: ReadonlyMap<string | number, readonly Path[]>
  /** Paths that continue to any child. */
  readonly anywhere: readonly Path[]
  /** Level of children that are not in `named`. */
  readonly next: Level | undefined
  readonly depth: number
}

const nothing: PathMatches = new Map()

function toLevel(paths: readonly Path[], depth: number): Level {
  const ended: Path[] = []
  const anywhere: Path[] = []
  const named = new Map<string | number, Path[]>()
  for (const path of paths) {
    const step = path.steps[depth]
    if (step === undefined) ended.push(path)
    else if (step === '*') anywhere.push(path)
    else named.set(step, [...(named.get(step) ?? []), path])
  }
  const next = anywhere.length === 0 ? undefined : toLevel(anywhere, depth + 1)
  return { ended, named, anywhere, next, depth }
}

/** Scans the value at `at`. Returns the position after it, and the ranges found in it. */
function scan(json: string, at: number, level: Level): { readonly end: number; readonly found: PathMatches } {
  const { ended, named, depth } = level
  let { anywhere, next } = level
  let found: Map<number, Range> | undefined
  const take = (from: readonly Path[], inner: PathMatches) => {
    for (const { index } of from) {
      const range = inner.get(index)
      if (range === undefined) found?.delete(index)
      else found = (found ?? new Map()).set(index, range)
    }
  }
  const end =
    named.size === 0 && next === undefined
      ? skipValue(json, at)
      : eachChild(json, at, ({ step, valueStart }) => {
          const matching = named.get(step)
          const child = matching === undefined ? next : toLevel([...matching, ...anywhere], depth + 1)
          if (child === undefined) return skipValue(json, valueStart)
          const inner = scan(json, valueStart, child)
          // Of duplicate names the last counts, as in JSON.parse.
          take(matching ?? [], inner.found)
          if (inner.found.size > 0 && anywhere.length > 0) {
            take(anywhere, inner.found)
            anywhere = anywhere.filter(({ index }) => found?.has(index) !== true)
            next = anywhere.length === 0 ? undefined : toLevel(anywhere, depth + 1)
          }
          return inner.end
        })
  if (end > at && ended.length > 0) {
    const here = new Map(ended.map(({ index }) => [index, { start: at, end }]))
    take(ended, here)
  }
  return { end, found: found ?? nothing }
}
