import { createRowTest, type RowTest } from '../match-row.ts'
import { compareBytes } from '../order.ts'
import type { GroupField, Pipe } from '../query.ts'
import type { Row } from '../row.ts'
import { bucketStart } from './bucket.ts'
import { createPatterns } from './patterns.ts'
import { createTopItems, type Steps, sortInSteps } from './sort-in-steps.ts'
import { type Budget, keyOf, type Stage, setField, sizeOf, valuesOf } from './stage.ts'
import { createStates, type StatsState } from './stats-state.ts'

type PipeOf<Kind extends Pipe['kind']> = Extract<Pipe, { readonly kind: Kind }>

// Measured memory of a group in addition to its texts, and of a value while it is sorted.
const [groupBytes, sortedBytes] = [120, 220]

function toRow(names: readonly string[], values: readonly string[]): Row {
  const row: Row = new Map()
  for (const [i, name] of names.entries()) setField(row, name, values[i] ?? '')
  return row
}

function* pushAll(rows: Iterable<Row>, next: Stage): Steps {
  for (const row of rows) {
    if (!next.push(row)) break
    yield
  }
  yield* next.end()
}

export function createStatsStage({ by, entries }: PipeOf<'stats'>, next: Stage, budget: Budget): Stage {
  type Group = { readonly values: readonly string[]; readonly states: readonly StatsState[] }
  const groups = new Map<string, Group>()
  const conditions: readonly (RowTest | undefined)[] = entries.map(
    ({ condition }) => condition && createRowTest(condition),
  )
  const create = entries.map(entry => createStates(entry.function, budget))
  const names = [...by.map(({ field }) => field), ...entries.map(({ result }) => result)]
  const group = (values: readonly string[]): Group => {
    const key = keyOf(values)
    const known = groups.get(key)
    if (known !== undefined) return known
    budget.take(sizeOf([key, ...values]) + groupBytes)
    const created = { values, states: create.map(state => state()) }
    groups.set(key, created)
    return created
  }
  // Without `by` there is a result even if there are no rows.
  if (by.length === 0) group([])
  return {
    push: (row, lines = 1) => {
      const { states } = group(by.map(field => groupValue(row, field)))
      for (const [i, state] of states.entries()) if (conditions[i]?.(row) ?? true) state.add(row, lines)
      return true
    },
    *end() {
      for (const { values, states } of groups.values()) {
        const results: string[] = []
        for (const state of states) {
          const result = state.result()
          results.push(typeof result === 'string' ? result : yield* result)
        }
        const row = toRow(names, [...values, ...results])
        if (!next.push(row)) break
        yield
      }
      yield* next.end()
    },
  }
}

function groupValue(row: Row, { field, bucket }: GroupField): string {
  const value = row.get(field) ?? ''
  return bucket === undefined ? value : bucketStart(value, bucket)
}

/** Creates a counter of rows by the combination of their values in the fields `by`. */
function createCounter(by: readonly string[], budget: Budget, mayBeEmpty: boolean) {
  const counts = new Map<string, { readonly values: readonly string[]; count: number }>()
  return {
    counts,
    add: (row: Row, lines = 1): void => {
      const values = valuesOf(row, by)
      if (!mayBeEmpty && values.every(value => value === '')) return
      const key = keyOf(values)
      const known = counts.get(key)
      if (known !== undefined) known.count += lines
      else {
        budget.take(sizeOf([key, ...values]))
        counts.set(key, { values, count: lines })
      }
    },
  }
}

export function createUniqStage(
  { by, part, hits, limit }: PipeOf<'uniq'>,
  next: Stage,
  budget: Budget,
): Stage {
  const { counts, add } = createCounter(by, budget, hits !== undefined || limit === 0)
  return {
    push: (row, lines) => {
      if (limit > 0 && counts.size > limit) return false
      if (part === '' || valuesOf(row, by).some(value => value.includes(part))) add(row, lines)
      return true
    },
    *end() {
      // Beyond the limit, rows are no longer counted: the values are right, but not their hits.
      const isCut = limit > 0 && counts.size > limit
      const names = hits === undefined ? by : [...by, hits]
      const rows = counts.values().take(isCut ? limit : Number.POSITIVE_INFINITY)
      yield* pushAll(
        rows.map(({ values, count }) => toRow(names, [...values, isCut ? '0' : String(count)])),
        next,
      )
    },
  }
}

export function createTopStage({ by, count, hits, rank }: PipeOf<'top'>, next: Stage, budget: Budget): Stage {
  const { counts, add } = createCounter(by, budget, true)
  return {
    push: (row, lines) => {
      add(row, lines)
      return true
    },
    *end() {
      type GroupCount = { readonly values: readonly string[]; readonly count: number }
      const compare = (a: GroupCount, b: GroupCount) => b.count - a.count || compareValues(a.values, b.values)
      budget.take(Math.min(count, counts.size) * sortedBytes)
      const firsts = createTopItems(count, compare)
      for (const entry of counts.values()) {
        firsts.add(entry)
        yield
      }
      const rows = yield* sortInSteps(firsts.items, compare)
      const names = [...by, hits, ...(rank === undefined ? [] : [rank])]
      yield* pushAll(
        rows.values().map((entry, i) => toRow(names, [...entry.values, String(entry.count), String(i + 1)])),
        next,
      )
    },
  }
}

/** Orders values of equal count as VictoriaLogs does: of several fields, shorter values come first. */
function compareValues(a: readonly string[], b: readonly string[]): number {
  for (const [i, value] of a.entries()) {
    const other = b[i] ?? ''
    const byLength = a.length === 1 ? 0 : Buffer.byteLength(value) - Buffer.byteLength(other)
    const order = byLength || compareBytes(value, other)
    if (order !== 0) return order
  }
  return 0
}

export function createPatternsStage({ from, limit }: PipeOf<'patterns'>, next: Stage): Stage {
  const patterns = createPatterns()
  return {
    push: row => {
      patterns.add(row.get(from) ?? '')
      return true
    },
    *end() {
      const rows = patterns.result().slice(0, limit)
      yield* pushAll(
        rows.map(({ pattern, count }) => toRow(['pattern', 'hits'], [pattern, String(count)])),
        next,
      )
    },
  }
}

export function createFieldNamesStage(
  { result, part }: PipeOf<'fieldNames'>,
  next: Stage,
  budget: Budget,
): Stage {
  const counts = new Map<string, number>()
  return {
    push: row => {
      for (const name of row.keys()) {
        if (!name.includes(part)) continue
        const count = counts.get(name)
        if (count === undefined) budget.take(sizeOf([name]))
        counts.set(name, (count ?? 0) + 1)
      }
      return true
    },
    end: () =>
      pushAll(
        counts.entries().map(([name, count]) => toRow([result, 'hits'], [name, String(count)])),
        next,
      ),
  }
}
