import type { Config } from '../../config/config.ts'

/**
 * What is served here, under the names by which consoles of the platform show its pages or hide them.
 *
 * @param config of which `logs.store` keeps lines and events, and `audit.path` makes audit events
 */
export function featuresOf({ logs, audit }: Pick<Config, 'logs' | 'audit'>): ReadonlySet<string> {
  const isKept = logs.store !== 'none'
  const optional = {
    logging: isKept,
    events: isKept && logs.events.enabled,
    auditing: isKept && logs.auditing.enabled && audit.path !== '',
  }
  const given = Object.entries(optional).flatMap(([name, isHere]) => (isHere ? [name] : []))
  return new Set(['authentication', 'authorization', 'kubernetes', ...given])
}
