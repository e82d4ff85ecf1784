import { copyText } from '../copy-text.ts'
import type { Pipe } from '../query.ts'
import type { Row } from '../row.ts'
import { createTopItems, type Steps, sortInSteps } from './sort-in-steps.ts'
import { type Budget, type Stage, sizeOf } from './stage.ts'

type Facets = Extract<Pipe, { readonly kind: 'facets' }>
/** Number of occurrences by value; undefined if there are too many values or too long ones. */
type Counts = Map<string, number> | undefined
type ValueCount = readonly [value: string, count: number]

/** Creates the stage that counts values of all fields: `field_name`, `field_value`, `hits`. */
export function createFacetsStage(
  { limit, maxValues, maxLength, keepsConstant }: Facets,
  next: Stage,
  budget: Budget,
): Stage {
  const fields = new Map<string, Counts>()
  let total = 0

  const count = (name: string, value: string): void => {
    let counts = fields.get(name)
    if (counts === undefined) {
      if (fields.has(name)) return
      budget.take(sizeOf([name]))
      counts = new Map()
      fields.set(copyText(name), counts)
    }
    const known = counts.get(value)
    if (known !== undefined) {
      counts.set(value, known + 1)
      return
    }
    if (Buffer.byteLength(value) > maxLength || counts.size >= maxValues) {
      for (const text of counts.keys()) budget.take(-sizeOf([text]))
      fields.set(name, undefined)
      return
    }
    budget.take(sizeOf([value]))
    counts.set(value, 1)
  }

  function* rowsOf(name: string, counts: ReadonlyMap<string, number>): Steps<boolean> {
    const [first] = counts.values()
    if (counts.size === 1 && first === total && !keepsConstant) return true
    const compare = ([a, m]: ValueCount, [b, n]: ValueCount) => n - m || (a < b ? -1 : 1)
    const firsts = createTopItems(limit, compare)
    for (const counted of counts) {
      firsts.add(counted)
      yield
    }
    for (const [value, hits] of yield* sortInSteps(firsts.items, compare)) {
      const row: Row = new Map([
        ['field_name', name],
        ['field_value', value],
        ['hits', String(hits)],
      ])
      if (!next.push(row)) return false
      yield
    }
    return true
  }

  return {
    push: row => {
      total += 1
      for (const [name, value] of row) count(name, value)
      return true
    },
    *end() {
      const sorted = yield* sortInSteps(fields, ([a], [b]) => (a < b ? -1 : 1))
      for (const [name, counts] of sorted) if (counts !== undefined && !(yield* rowsOf(name, counts))) break
      yield* next.end()
    },
  }
}
