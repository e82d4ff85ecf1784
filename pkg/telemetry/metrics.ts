import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type { Counter, Gauge, Histogram, Registry } from 'prom-client'

type Description<L extends string> = { name: string; help: string; labels?: readonly L[] }

/** Creates the metrics registry of a program, with the default metrics of a Node.js process. */
export function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

/** Creates a registry without the default metrics. */
export function createEmptyRegistry(): Registry {
  return new Registry()
}

export function counter<L extends string>(registry: Registry, d: Description<L>): Counter<L> {
  return new Counter({
    name: d.name,
    help: d.help,
    labelNames: [...(d.labels ?? [])],
    registers: [registry],
  })
}

/** Registers a gauge, which `collect` sets at each scrape from a value elsewhere. */
export function gauge<L extends string>(
  registry: Registry,
  d: Description<L> & { collect?: (gauge: Gauge<L>) => void },
): Gauge<L> {
  const { name, help, labels = [], collect } = d
  return new Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    ...(collect && {
      collect(this: Gauge<L>) {
        collect(this)
      },
    }),
  })
}

export function histogram<L extends string>(
  registry: Registry,
  d: Description<L> & { buckets: readonly number[] },
): Histogram<L> {
  const { name, help, labels = [], buckets } = d
  return new Histogram({
    name,
    help,
    labelNames: [...labels],
    buckets: [...buckets],
    registers: [registry],
  })
}
