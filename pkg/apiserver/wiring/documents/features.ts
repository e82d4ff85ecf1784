import type { Config } from '../../../config/config.ts'

/**
 * Returns the names of enabled features, by which consoles show or hide pages. `multicluster` is
 * never one of them: with it, KubeSphere's console places workspaces on clusters, which Kapis
 * rejects, and no page of this cluster works.
 *
 * @param config `logs.store` enables logs and events, `audit.path` enables audit events
 */
export function featuresOf({ logs, audit }: Pick<Config, 'logs' | 'audit'>): ReadonlySet<string> {
  const isKept = logs.store !== 'none'
  const optional = {
    logging: isKept,
    events: isKept && logs.events.enabled,
    auditing: isKept && logs.auditing.enabled && audit.path !== '',
  }
  const enabled = Object.entries(optional).flatMap(([name, isHere]) => (isHere ? [name] : []))
  return new Set(['authentication', 'authorization', 'kubernetes', ...enabled])
}
