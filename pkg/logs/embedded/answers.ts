import { hash } from 'node:crypto'
import type { LogFilter, Scope } from '../filter.ts'
import type { Segment } from './segment.ts'
import { type Selection, select, timeRange } from './selection.ts'

/**
 * Finds something out of what a filter selects of segments, of each that never changes only once. Consoles ask the same
 * again and again, and of a window that moves most segments lie wholly inside.
 */
export type Recall<T extends object> = (segment: Segment) => Generator<void, T>

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

  return function* (segment) {
    const { from, to } = timeRange(segment, filter)
    digest ??= hash('sha256', `${what}\n${nameOfScope(scope)}\n${JSON.stringify(expression)}`, 'base64')
    const name = `${from}-${to}/${digest}`
    const known = segment.answers?.find<T>(name)
    if (known !== undefined) return known
    const value = find(segment, yield* select(segment, filter))
    segment.answers?.keep(name, value, entryBytes + bytes(value))
    return value
  }
}

function nameOfScope(scope: Scope): string {
  if (scope === 'everything') return scope
  return scope.map(({ namespace, sinceNs }) => `${namespace} ${sinceNs}`).join()
}
