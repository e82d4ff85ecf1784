import { Counter } from 'prom-client'
import type { Registry } from './metrics.ts'

/** The time series of a counter for one combination of label values. */
export type CounterSeries = { readonly inc: () => void }

type LabelCount<L extends string> = { readonly values: Readonly<Record<L, string>>; count: number }

/**
 * Registers a counter for hot paths. prom-client looks up label values at each increment, which
 * costs as much as the rest of a small response. Here the caller keeps the time series, and counts
 * are copied to prom-client at a scrape.
 *
 * @returns creates the time series of label values; call it once for each
 */
export function hotCounter<L extends string>(
  registry: Registry,
  { name, help, labels }: { name: string; help: string; labels: readonly L[] },
): (values: Readonly<Record<L, string>>) => CounterSeries {
  const rows: LabelCount<L>[] = []
  new Counter({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect(this: Counter<L>) {
      for (const row of rows) {
        if (row.count > 0) this.inc(row.values, row.count)
        row.count = 0
      }
    },
  })
  return values => {
    const row: LabelCount<L> = { values, count: 0 }
    rows.push(row)
    return {
      inc: () => {
        row.count++
      },
    }
  }
}

/** Registers a counter for hot paths with two labels, each of which has few values. */
export function hotCounterOfPairs(
  registry: Registry,
  { name, help, labels }: { name: string; help: string; labels: readonly [string, string] },
): (a: string, b: string) => void {
  const rowOf = hotCounter<string>(registry, { name, help, labels })
  const rows = new Map<string, Map<string, CounterSeries>>()
  return (a, b) => {
    const known = rows.get(a)?.get(b)
    if (known) return known.inc()
    const row = rowOf({ [labels[0]]: a, [labels[1]]: b })
    rows.set(a, new Map(rows.get(a)).set(b, row))
    row.inc()
  }
}
