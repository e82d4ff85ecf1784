import { formatNumber, parseNumber } from '../numbers.ts'
import { compareKeys, compareNatural, type SortKey, sortKey } from '../order.ts'
import type { StatsFunction } from '../query.ts'
import type { Row } from '../row.ts'
import { type Budget, createNameTest, keyOf, sizeOf, valuesOf } from './stage.ts'
import { type Steps, sortInSteps } from './steps.ts'

/** The state of a `stats` function for one group. */
export type StatsState = { readonly add: (row: Row) => void; readonly result: () => string | Steps<string> }

export function createState(what: StatsFunction, budget: Budget): StatsState {
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

/** Returns the values of fields: named ones even if empty, and for `*` those of the row. */
function createReader(fields: readonly string[]): (row: Row) => readonly string[] {
  if (!fields.some(field => field.endsWith('*'))) return row => valuesOf(row, fields)
  const isWanted = createNameTest(fields)
  return row => [...row].flatMap(([name, value]) => (isWanted(name) ? [value] : []))
}

function createCount(fields: readonly string[]): StatsState {
  let count = 0
  const read = createReader(fields)
  const isAll = fields.includes('*')
  return {
    add: row => {
      if (isAll || read(row).some(value => value !== '')) count += 1
    },
    result: () => String(count),
  }
}

function createSum(name: 'sum' | 'avg', fields: readonly string[]): StatsState {
  let [sum, count] = [0, 0]
  const read = createReader(fields)
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

function createExtreme(name: 'min' | 'max', fields: readonly string[], budget: Budget): StatsState {
  let best: SortKey | undefined
  const read = createReader(fields)
  return {
    add: row => {
      for (const value of read(row)) {
        if (value === best?.text) continue
        const key = sortKey(value)
        const order = best === undefined ? 0 : compareKeys(key, best)
        if (best !== undefined && (name === 'min' ? order >= 0 : order <= 0)) continue
        budget.take(2 * (value.length - (best?.text.length ?? 0)))
        best = key
      }
    },
    result: () => best?.text ?? '',
  }
}

function createUniqueCount(
  { fields, limit }: Extract<StatsFunction, { readonly name: 'count_uniq' }>,
  budget: Budget,
): StatsState {
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

function createQuantile(
  { phi, fields }: Extract<StatsFunction, { readonly name: 'quantile' }>,
  budget: Budget,
): StatsState {
  const counts = new Map<string, number>()
  let total = 0
  const read = createReader(fields)
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
      const keyed: { readonly key: SortKey; readonly count: number }[] = []
      for (const [text, count] of counts) {
        keyed.push({ key: sortKey(text), count })
        yield
      }
      const sorted = yield* sortInSteps(keyed, (a, b) => compareKeys(a.key, b.key))
      let at = Math.min(Math.floor(phi * total), total - 1)
      for (const { key, count } of sorted) {
        if (at < count) return key.text
        at -= count
      }
      return ''
    },
  }
}

// The buckets of VictoriaMetrics: 18 of equal width, in logarithms, for each power of ten.
const perDecade = 18
const [leastPower, mostPower] = [-9, 18]

function createHistogram(field: string, budget: Budget): StatsState {
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

function histogramBucket(value: number): number {
  if (value < 10 ** leastPower) return -1
  const place = (Math.log10(value) - leastPower) * perDecade
  if (place >= (mostPower - leastPower) * perDecade) return (mostPower - leastPower) * perDecade
  const bucket = Math.floor(place)
  // A value at the exact end of a bucket belongs to it.
  return bucket > 0 && bucket === place ? bucket - 1 : bucket
}

function rangeOf(bucket: number): string {
  const end = (mostPower - leastPower) * perDecade
  const bound = (at: number) =>
    (10 ** (leastPower + at / perDecade)).toExponential(3).replace(/e([+-])(\d)$/, 'e$10$2')
  if (bucket === -1) return `0...${bound(0)}`
  return bucket === end ? `${bound(end)}...+Inf` : `${bound(bucket)}...${bound(bucket + 1)}`
}
