import { gauge, type Registry } from '../telemetry/metrics.ts'
import type { Reloads } from './config-file.ts'

/** Registers the metrics of reloads, which are those of Prometheus. */
export function observeReloads(registry: Registry, { lastRead }: Pick<Reloads, 'lastRead'>): void {
  gauge(registry, {
    name: 'kapis_config_last_reload_successful',
    help: '1 if the configuration file was valid when it was last read, 0 otherwise.',
    collect: metric => metric.set(lastRead().isGood ? 1 : 0),
  })
  gauge(registry, {
    name: 'kapis_config_last_reload_success_timestamp_seconds',
    help: 'Unix time of the last successful reload of the configuration.',
    collect: metric => metric.set(lastRead().goodAtMs / 1000),
  })
}
