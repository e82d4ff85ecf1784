import { gauge, type Registry } from '../../telemetry/metrics.ts'
import type { ProviderEntry } from './provider-store.ts'

/** What tells an operator that a Secret of his is broken; the log says what is wrong with it. */
export function createProviderMetrics(registry: Registry, entries: () => Iterable<ProviderEntry>): void {
  gauge(registry, {
    name: 'kapis_identity_provider_usable',
    help: 'Identity providers by Secret: 1 if the configuration is valid, 0 otherwise.',
    labels: ['secret'],
    collect(metric) {
      metric.reset()
      for (const { secret, provider } of entries()) metric.set({ secret }, provider === undefined ? 0 : 1)
    },
  })
}
