import type { AuthenticationConfig } from './authentication.ts'
import type { CacheConfig } from './cache.ts'
import type { Config } from './config.ts'
import type { LimitsConfig } from './limits.ts'
import type { LogsConfig } from './logs.ts'

/**
 * The members that follow the file while a program runs. Each is asked for when it is needed and nothing is built of it; all
 * others belong to what stands from the start to the end: listeners, stores, keys, what replicas must agree on.
 */
export type LiveConfig = Pick<Config, 'accessLog' | 'logLevel' | 'shutdownDelaySeconds'> & {
  readonly listen: Pick<Config['listen'], 'trustedProxies'>
  readonly cache: CacheConfig
  readonly authentication: Pick<AuthenticationConfig, 'multipleLogin'>
  readonly limits: Omit<LimitsConfig, 'headersSeconds' | 'headerKilobytes'>
  readonly logs: Pick<LogsConfig, 'queryTimeoutSeconds' | 'exportLimit'>
}

export function toLive(config: Config): LiveConfig {
  const { listen, cache, authentication, limits, accessLog, logs, logLevel, shutdownDelaySeconds } = config
  // Built into the listener.
  const { headersSeconds: _, headerKilobytes: __, ...ofRequests } = limits
  return {
    listen: { trustedProxies: listen.trustedProxies },
    cache,
    authentication: { multipleLogin: authentication.multipleLogin },
    limits: ofRequests,
    accessLog,
    logs: { queryTimeoutSeconds: logs.queryTimeoutSeconds, exportLimit: logs.exportLimit },
    logLevel,
    shutdownDelaySeconds,
  }
}

/** Paths of the members in which two configurations differ, in the order of the file. */
export function differences(before: object, after: object): readonly string[] {
  const [old, now] = [flatten(before), flatten(after)]
  const paths = new Set([...old.keys(), ...now.keys()])
  return [...paths].filter(path => old.get(path) !== now.get(path))
}

/** Every member by its path; a list is one member. */
export function flatten(value: object, prefix = ''): ReadonlyMap<string, string> {
  const members = Object.entries(value).flatMap(([key, inner]): [string, string][] => {
    const path = prefix === '' ? key : `${prefix}.${key}`
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    return isObject ? [...flatten(inner, path)] : [[path, JSON.stringify(inner)]]
  })
  return new Map(members)
}
