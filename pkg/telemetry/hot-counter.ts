import { Counter } from 'prom-client'
import type { Registry } from './metrics.ts'

/** One row of a counter. */
export type Row = { readonly inc: () => void }

type Kept<L extends string> = { readonly values: Readonly<Record<L, string>>; count: number }

/**
 * A counter that each request moves. prom-client finds a row by its labels at each step, which costs as much as the rest of
 * a small answer's accounts; here the caller keeps the row, and its number reaches prom-client when someone asks.
 *
 * @returns makes a row: once for each set of values
 */
export function tally<L extends string>(
  registry: Registry,
  { name, help, labels }: { name: string; help: string; labels: readonly L[] },
): (values: Readonly<Record<L, string>>) => Row {
  const rows: Kept<L>[] = []
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
    const row: Kept<L> = { values, count: 0 }
    rows.push(row)
    return {
      inc: () => {
        row.count++
      },
    }
  }
}
