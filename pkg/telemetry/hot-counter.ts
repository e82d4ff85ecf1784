import { Counter } from 'prom-client'
import type { Registry } from './metrics.ts'

/** One child of a counter. */
export type Row = { readonly inc: () => void }

type Kept<L extends string> = { readonly values: Readonly<Record<L, string>>; count: number }

/**
 * A counter for the hot path. prom-client looks up the label values at each increment, which costs
 * as much as the other work of a small response; here the caller keeps the child, and its value is
 * copied to prom-client at a scrape.
 *
 * @returns creates the child of a set of label values: call it once for each
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
