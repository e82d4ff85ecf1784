import { hash } from 'node:crypto'
import type { LogFilter, Scope } from '../filter.ts'
import type { Segment } from './segment.ts'
import { type Selection, select, timeRange } from './selection.ts'

/**
 * Finds something out of what a filter selects of segments, of each that never changes only once. Consoles ask the same
 * again and again, and of a window that moves most segments lie wholly inside.
 */
export type Recall<T extends object> = {
  readonly find: (segment: Segment) => Generator<void, T>
  /** What was found out before; undefined when it was not, or is forgotten. */
  readonly known: (segment: Segment) => T | undefined
  /** For whoever knows what is selected. */
  readonly learn: (segment: Segment, selection: Selection) => T
}

// What it takes to keep a value, besides what it takes itself.
const entryBytes = 256

/** @param what the same only for what is found in the same way */
export function createRecall<T extends object>(
  filter: LogFilter,
  what: string,
  find: (segment: Segment, selection: Selection) => T,
  bytes: (value: T) => number,
): Recall<T> {
  const { scope, expression } = filter
  let digest: string | undefined

  function nameOf(segment: Segment): string {
    const { from, to } = timeRange(segment, filter)
    digest ??= hash('sha256', `${what}\n${nameOfScope(scope)}\n${JSON.stringify(expression)}`, 'base64')
    return `${from}-${to}/${digest}`
  }

  const known = (segment: Segment): T | undefined => segment.answers?.find<T>(nameOf(segment))

  function learn(segment: Segment, selection: Selection): T {
    const value = find(segment, selection)
    segment.answers?.keep(nameOf(segment), value, entryBytes + bytes(value))
    return value
  }

  return {
    known,
    learn,
    *find(segment) {
      return known(segment) ?? learn(segment, yield* select(segment, filter))
    },
  }
}

function nameOfScope(scope: Scope): string {
  if (scope === 'everything') return scope
  return scope.map(({ namespace, sinceNs }) => `${namespace} ${sinceNs}`).join()
}
