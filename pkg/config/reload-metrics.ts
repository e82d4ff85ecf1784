import { gauge, type Registry } from '../telemetry/metrics.ts'
import type { Reloads } from './config-file.ts'

/** As Prometheus tells of its own configuration. */
export function observeReloads(registry: Registry, { lastRead }: Pick<Reloads, 'lastRead'>): void {
  gauge(registry, {
    name: 'kapis_config_last_reload_successful',
    help: 'Whether the configuration file could be used when it was last read.',
    collect: metric => metric.set(lastRead().isGood ? 1 : 0),
  })
  gauge(registry, {
    name: 'kapis_config_last_reload_success_timestamp_seconds',
    help: 'When a configuration was last taken, in seconds since 1970.',
    collect: metric => metric.set(lastRead().goodAtMs / 1000),
  })
}
