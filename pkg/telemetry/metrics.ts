import type { Counter, Gauge, Histogram, Registry } from 'prom-client'
import CounterClass from 'prom-client/lib/counter.js'
import GaugeClass from 'prom-client/lib/gauge.js'
import HistogramClass from 'prom-client/lib/histogram.js'
import RegistryClass from 'prom-client/lib/registry.js'
import { observeProcess } from './process-metrics.ts'

export type { Counter, Gauge, Histogram, Registry }

type Description<L extends string> = { name: string; help: string; labels?: readonly L[] }

/** A registry of one program; rooms declare their metrics on it beside the code that moves them. */
export function createRegistry(): Registry {
  const registry = new RegistryClass()
  observeProcess(registry)
  return registry
}

/** One without the figures of the process. */
export function createEmptyRegistry(): Registry {
  return new RegistryClass()
}

export function counter<L extends string>(registry: Registry, d: Description<L>): Counter<L> {
  return new CounterClass({
    name: d.name,
    help: d.help,
    labelNames: [...(d.labels ?? [])],
    registers: [registry],
  })
}

/** `collect` is called at each scrape; it is the way to expose a figure that something else keeps. */
export function gauge<L extends string>(
  registry: Registry,
  d: Description<L> & { collect?: (gauge: Gauge<L>) => void },
): Gauge<L> {
  const read = d.collect
  return new GaugeClass({
    name: d.name,
    help: d.help,
    labelNames: [...(d.labels ?? [])],
    registers: [registry],
    ...(read === undefined
      ? {}
      : {
          collect(this: Gauge<L>) {
            read(this)
          },
        }),
  })
}

export function histogram<L extends string>(
  registry: Registry,
  d: Description<L> & { buckets: readonly number[] },
): Histogram<L> {
  const { name, help, labels = [], buckets } = d
  return new HistogramClass({
    name,
    help,
    labelNames: [...labels],
    buckets: [...buckets],
    registers: [registry],
  })
}
