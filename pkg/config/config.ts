import type { LogLevel } from '../telemetry/logger.ts'
import { type AuditConfig, auditMembers, parseAudit } from './audit.ts'
import { type AuthenticationConfig, parseAuthentication } from './authentication.ts'
import { type CacheConfig, cacheMembers, parseCache } from './cache.ts'
import { type ClientConfig, clientMembers, commandLineClient, defaultClient, parseClient } from './client.ts'
import {
  duplicateNames,
  type Learn,
  object,
  type Problem,
  port,
  ranges,
  seconds,
  text,
  texts,
} from './fields.ts'
import { type LimitsConfig, limitsMembers, parseLimits } from './limits.ts'
import { type LogStoreSecrets, type LogsConfig, logsMembers, parseLogs } from './logs.ts'
import { parseRegistries, type RegistriesConfig, registriesMembers } from './registries.ts'
import { parseTracing, type TracingConfig, tracingMembers } from './tracing.ts'

/** The whole configuration of both programs, without secrets. Durations are in seconds. */
export type Config = {
  /** Every group, label and annotation name is built from this one value. */
  readonly groupDomain: string
  readonly listen: {
    readonly address: string
    readonly port: number
    /** Proxies before the front whose X-Forwarded-For is believed: addresses and CIDRs. */
    readonly trustedProxies: readonly string[]
  }
  /** Plain HTTP beside HTTPS, for platforms that expose port 80; off unless a port is given. */
  readonly http:
    | { readonly enabled: false }
    | { readonly enabled: true; readonly address: string; readonly port: number }
  readonly kubernetes: { readonly kubeconfig: string; readonly namespace: string }
  /** The Service that the APIService points at. */
  readonly service: { readonly name: string; readonly port: number }
  readonly tls: {
    readonly dnsNames: readonly string[]
    readonly ipAddresses: readonly string[]
    readonly rolloverSeconds: number
    /** A certificate that somebody else looks after; all three, or none of them. */
    readonly certFile: string
    readonly keyFile: string
    readonly caFile: string
  }
  readonly oauth: {
    readonly issuer: string
    readonly productName: string
    readonly socket: string
    readonly audience: string
    readonly accessTokenSeconds: number
    readonly refreshTokenSeconds: number
    /** The longest that a login goes on, however often it is refreshed. */
    readonly loginMaxAgeSeconds: number
    readonly clockSkewSeconds: number
    /** For how long a signing key signs. */
    readonly keyRotationSeconds: number
    readonly clients: readonly ClientConfig[]
  }
  readonly cache: CacheConfig
  readonly registries: RegistriesConfig
  readonly authentication: AuthenticationConfig
  readonly limits: LimitsConfig
  readonly audit: AuditConfig
  readonly tracing: TracingConfig
  /** One line for each request; at debug level there always is. */
  readonly accessLog: boolean
  readonly logs: LogsConfig
  readonly logLevel: LogLevel
  readonly shutdownDelaySeconds: number
}

/** Kept apart from Config so that a configuration can be printed. */
export type Secrets = {
  /** By client name. */
  readonly clientSecrets: ReadonlyMap<string, string>
  readonly logStore: LogStoreSecrets
}

export class ConfigError extends Error {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(`invalid configuration:\n${problems.map(p => `  ${p.path}: ${p.message}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

const dns1123Subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/**
 * Defaults and checks a parsed configuration file over which the environment was laid (see env.ts).
 *
 * @param learn told of every member what is allowed there; the schema is made from it
 * @throws ConfigError with every problem, each with its path
 */
export function parseConfig(input: unknown, learn?: Learn): { config: Config; secrets: Secrets } {
  const problems: Problem[] = []
  const root = object(input, '', { problems, learn }, [
    'groupDomain',
    'listen',
    'http',
    'kubernetes',
    'service',
    'tls',
    'oauth',
    'cache',
    'registries',
    'authentication',
    'limits',
    'audit',
    'tracing',
    'accessLog',
    'logs',
    'logLevel',
    'shutdownDelaySeconds',
  ])
  const groupDomain = text(root, 'groupDomain', {
    default: 'kapis.io',
    pattern: dns1123Subdomain,
    is: 'a DNS subdomain such as kapis.io',
  })
  const listen = root.object('listen', ['address', 'port', 'trustedProxies'])
  const http = root.object('http', ['enabled', 'address', 'port'])
  const kubernetes = root.object('kubernetes', ['kubeconfig', 'namespace'])
  const service = root.object('service', ['name', 'port'])
  const tls = root.object('tls', tlsMembers)
  const oauth = root.object('oauth', [
    'issuer',
    'productName',
    'socket',
    'audience',
    'accessTokenSeconds',
    'refreshTokenSeconds',
    'loginMaxAgeSeconds',
    'clockSkewSeconds',
    'keyRotationSeconds',
    'clients',
  ])
  const listenPort = port(listen, 'port', 9443)
  const accessTokenSeconds = seconds(oauth, 'accessTokenSeconds', { default: 7200, min: 60, max: 86_400 })
  const refreshTokenSeconds = seconds(oauth, 'refreshTokenSeconds', {
    default: 14_400,
    min: 60,
    max: 31_536_000,
  })
  if (refreshTokenSeconds < accessTokenSeconds) {
    oauth.problem('refreshTokenSeconds', 'must not be shorter than oauth.accessTokenSeconds')
  }
  const loginMaxAgeSeconds = seconds(oauth, 'loginMaxAgeSeconds', {
    default: 2_592_000,
    min: 60,
    max: 31_536_000,
  })
  const { clients, clientSecrets } = parseClients(oauth)
  const { logs, secrets: logStore } = parseLogs(root.object('logs', logsMembers))
  const config: Config = {
    groupDomain,
    listen: {
      address: text(listen, 'address', { default: '0.0.0.0' }),
      port: listenPort,
      trustedProxies: ranges(listen, 'trustedProxies'),
    },
    http: http.boolean('enabled', false)
      ? {
          enabled: true,
          address: text(http, 'address', { default: '0.0.0.0' }),
          port: port(http, 'port', 9080),
        }
      : { enabled: false },
    kubernetes: {
      kubeconfig: text(kubernetes, 'kubeconfig', { default: '' }),
      namespace: text(kubernetes, 'namespace', {
        default: 'kapis-system',
        pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
        is: 'a namespace name',
      }),
    },
    service: { name: text(service, 'name', { default: 'kapis' }), port: port(service, 'port', 443) },
    tls: parseTls(tls),
    oauth: {
      issuer: text(oauth, 'issuer', {
        default: `https://localhost:${listenPort}/oauth`,
        pattern: /^https?:\/\/[^?#]+[^/?#]$/,
        is: 'an http(s) URL without query, fragment or trailing slash',
      }),
      productName: text(oauth, 'productName', {
        default: 'Kapis',
        pattern: /^[^\p{Cc}]{1,60}$/u,
        is: 'up to 60 characters',
      }),
      socket: text(oauth, 'socket', { default: '/run/kapis/oauth.sock' }),
      audience: text(oauth, 'audience', { default: groupDomain }),
      accessTokenSeconds,
      refreshTokenSeconds,
      loginMaxAgeSeconds,
      clockSkewSeconds: seconds(oauth, 'clockSkewSeconds', { default: 10, min: 0, max: 300 }),
      keyRotationSeconds: seconds(oauth, 'keyRotationSeconds', {
        default: 2_592_000,
        min: 60,
        max: 31_536_000,
      }),
      clients,
    },
    cache: parseCache(root.object('cache', cacheMembers)),
    registries: parseRegistries(root.object('registries', registriesMembers)),
    authentication: parseAuthentication(root),
    limits: parseLimits(root.object('limits', limitsMembers)),
    audit: parseAudit(root.object('audit', auditMembers)),
    tracing: parseTracing(root.object('tracing', tracingMembers)),
    accessLog: root.boolean('accessLog', false),
    logs,
    logLevel: root.choice('logLevel', ['info', 'debug', 'warn', 'error']),
    shutdownDelaySeconds: seconds(root, 'shutdownDelaySeconds', { default: 15, min: 0, max: 300 }),
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return { config: Object.freeze(config), secrets: { clientSecrets, logStore } }
}

const tlsMembers = ['dnsNames', 'ipAddresses', 'rolloverSeconds', 'certFile', 'keyFile', 'caFile'] as const

function parseTls(tls: ReturnType<typeof object>): Config['tls'] {
  const files = {
    certFile: text(tls, 'certFile', { default: '' }),
    keyFile: text(tls, 'keyFile', { default: '' }),
    caFile: text(tls, 'caFile', { default: '' }),
  }
  const missing = Object.entries(files).filter(([, file]) => file === '')
  if (missing.length > 0 && missing.length < 3)
    for (const [name] of missing)
      tls.problem(name, 'is needed beside the others: certFile, keyFile and caFile go together')
  return {
    dnsNames: texts(tls, 'dnsNames'),
    ipAddresses: texts(tls, 'ipAddresses'),
    rolloverSeconds: seconds(tls, 'rolloverSeconds', { default: 86_400, min: 1, max: 31_536_000 }),
    ...files,
  }
}

function parseClients(oauth: ReturnType<typeof object>) {
  const entries = oauth.list('clients', clientMembers)?.map(parseClient)
  // The clients that consoles, scripts and `kapis login` know, unless the configuration names its own.
  const registered = entries ?? [
    { client: defaultClient, secret: defaultClient.name },
    { client: commandLineClient, secret: undefined },
  ]
  const clients: readonly ClientConfig[] = registered.map(({ client }) => client)
  const clientSecrets = new Map<string, string>()
  for (const { client, secret } of registered)
    if (secret !== undefined) clientSecrets.set(client.name, secret)
  for (const name of duplicateNames(clients)) oauth.problem('clients', `the name ${name} is given twice`)
  return { clients, clientSecrets }
}
