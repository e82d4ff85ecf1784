import { gauge, type Registry } from '../../telemetry/metrics.ts'
import type { ProviderEntry } from './provider-store.ts'

/** Reports for each Secret whether its provider is usable; the log contains the error. */
export function createProviderMetrics(registry: Registry, entries: () => Iterable<ProviderEntry>): void {
  gauge(registry, {
    name: 'kapis_identity_provider_usable',
    help: 'Identity providers by Secret: 1 if the configuration is valid, 0 otherwise.',
    labels: ['secret'],
    collect(metric) {
      metric.reset()
      for (const { name, provider } of entries()) metric.set({ secret: name }, provider === undefined ? 0 : 1)
    },
  })
}
