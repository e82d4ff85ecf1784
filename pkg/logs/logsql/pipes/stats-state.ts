import { formatNumber, parseNumber } from '../numbers.ts'
import { compareKeys, compareNatural, type SortKey, sortKey } from '../order.ts'
import type { StatsFunction } from '../query.ts'
import type { Row } from '../row.ts'
import { type Steps, sortInSteps } from './sort-in-steps.ts'
import { type Budget, createNameTest, keyOf, sizeOf, valuesOf } from './stage.ts'

/** The state of a `stats` function for one group. */
export type StatsState = {
  /** @param lines number of lines that the row stands for; other than 1 only if `countsLines` */
  readonly add: (row: Row, lines: number) => void
  readonly result: () => string | Steps<string>
}

/** Reports whether a function has the same result if a row stands for several equal lines. */
export function countsLines({ name }: StatsFunction): boolean {
  return name === 'count' || name === 'count_uniq' || name === 'min' || name === 'max'
}

type Create = () => StatsState

// Measured bytes: the state of a group, its list of values, and a value while it is sorted.
const [stateBytes, collectionBytes, sortedBytes] = [220, 160, 280]

/** Returns a function that creates the state of each group. */
export function createStates(what: StatsFunction, budget: Budget): Create {
  const create = statesOf(what, budget)
  const bytes = stateBytes + (hasCollection(what) ? collectionBytes : 0)
  return () => {
    budget.take(bytes)
    return create()
  }
}

function hasCollection({ name }: StatsFunction): boolean {
  return ['count_uniq', 'quantile', 'histogram'].includes(name)
}

function statesOf(what: StatsFunction, budget: Budget): Create {
  switch (what.name) {
    case 'count':
      return createCount(what.fields)
    case 'sum':
    case 'avg':
      return createSum(what.name, what.fields)
    case 'min':
    case 'max':
      return createExtreme(what.name, what.fields, budget)
    case 'count_uniq':
      return createUniqueCount(what, budget)
    case 'quantile':
      return createQuantile(what, budget)
    case 'histogram':
      return createHistogram(what.field, budget)
  }
}

/** Returns a function that reads fields: named ones even if empty, for `*` all of the row. */
function createReader(fields: readonly string[]): (row: Row) => readonly string[] {
  if (!fields.some(field => field.endsWith('*'))) return row => valuesOf(row, fields)
  const isSelected = createNameTest(fields)
  return row => [...row].flatMap(([name, value]) => (isSelected(name) ? [value] : []))
}

function createCount(fields: readonly string[]): Create {
  const read = createReader(fields)
  const isCounted = fields.includes('*') ? () => true : (row: Row) => read(row).some(value => value !== '')
  return () => {
    let count = 0
    return {
      add: (row, lines) => {
        if (isCounted(row)) count += lines
      },
      result: () => String(count),
    }
  }
}

function createSum(name: 'sum' | 'avg', fields: readonly string[]): Create {
  const read = createReader(fields)
  return () => {
    let [sum, count] = [0, 0]
    return {
      add: row => {
        for (const value of read(row)) {
          const number = parseNumber(value)
          if (number === undefined || Number.isNaN(number)) continue
          sum += number
          count += 1
        }
      },
      result: () => formatNumber(count === 0 ? Number.NaN : name === 'sum' ? sum : sum / count),
    }
  }
}

function createExtreme(name: 'min' | 'max', fields: readonly string[], budget: Budget): Create {
  const read = createReader(fields)
  const isBetter = (a: SortKey, b: SortKey) =>
    name === 'min' ? compareKeys(a, b) < 0 : compareKeys(a, b) > 0
  return () => {
    let best: SortKey | undefined
    const offer = (value: string): void => {
      if (value === best?.text) return
      const key = sortKey(value)
      if (best !== undefined && !isBetter(key, best)) return
      budget.take(2 * (value.length - (best?.text.length ?? 0)))
      best = key
    }
    return {
      add: row => {
        for (const value of read(row)) offer(value)
      },
      result: () => best?.text ?? '',
    }
  }
}

function createUniqueCount(
  { fields, limit }: Extract<StatsFunction, { readonly name: 'count_uniq' }>,
  budget: Budget,
): Create {
  return () => {
    const seen = new Set<string>()
    return {
      add: row => {
        if (limit > 0 && seen.size >= limit) return
        const values = valuesOf(row, fields)
        if (values.every(value => value === '')) return
        const key = keyOf(values)
        if (seen.has(key)) return
        budget.take(sizeOf([key]))
        seen.add(key)
      },
      result: () => String(seen.size),
    }
  }
}

function createQuantile(
  { phi, fields }: Extract<StatsFunction, { readonly name: 'quantile' }>,
  budget: Budget,
): Create {
  const read = createReader(fields)
  return () => {
    const counts = new Map<string, number>()
    let total = 0
    return {
      add: row => {
        for (const value of read(row)) {
          const count = counts.get(value)
          if (count === undefined) budget.take(sizeOf([value]))
          counts.set(value, (count ?? 0) + 1)
          total += 1
        }
      },
      *result() {
        const extra = sortedBytes * counts.size
        budget.take(extra)
        const value = yield* valueAt(counts, Math.min(Math.floor(phi * total), total - 1))
        budget.take(-extra)
        return value
      },
    }
  }
}

/** Returns the value at an index in the sorted list of all values. */
function* valueAt(counts: ReadonlyMap<string, number>, index: number): Steps<string> {
  const keyed: { readonly key: SortKey; readonly count: number }[] = []
  for (const [text, count] of counts) {
    keyed.push({ key: sortKey(text), count })
    yield
  }
  const sorted = yield* sortInSteps(keyed, (a, b) => compareKeys(a.key, b.key))
  let at = index
  for (const { key, count } of sorted) {
    if (at < count) return key.text
    at -= count
  }
  return ''
}

// The buckets of VictoriaMetrics: 18 per power of ten, of equal width on a logarithmic scale.
const perDecade = 18
const [leastPower, maxPower] = [-9, 18]

function createHistogram(field: string, budget: Budget): Create {
  return () => {
    const counts = new Map<number, number>()
    return {
      add: row => {
        const value = parseNumber(row.get(field) ?? '')
        if (value === undefined || Number.isNaN(value) || value < 0) return
        const bucket = histogramBucket(value)
        if (!counts.has(bucket)) budget.take(sizeOf(['']))
        counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
      },
      result: () => {
        const buckets = [...counts].map(([bucket, hits]) => ({ vmrange: rangeOf(bucket), hits }))
        return JSON.stringify(buckets.sort((a, b) => compareNatural(a.vmrange, b.vmrange)))
      },
    }
  }
}

function histogramBucket(value: number): number {
  if (value < 10 ** leastPower) return -1
  const bucketIndex = (Math.log10(value) - leastPower) * perDecade
  if (bucketIndex >= (maxPower - leastPower) * perDecade) return (maxPower - leastPower) * perDecade
  const bucket = Math.floor(bucketIndex)
  // A value at the exact end of a bucket belongs to that bucket.
  return bucket > 0 && bucket === bucketIndex ? bucket - 1 : bucket
}

function rangeOf(bucket: number): string {
  const end = (maxPower - leastPower) * perDecade
  const bound = (at: number) =>
    (10 ** (leastPower + at / perDecade)).toExponential(3).replace(/e([+-])(\d)$/, 'e$10$2')
  if (bucket === -1) return `0...${bound(0)}`
  return bucket === end ? `${bound(end)}...+Inf` : `${bound(bucket)}...${bound(bucket + 1)}`
}
