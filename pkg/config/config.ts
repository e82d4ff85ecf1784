import { z } from 'zod'
import { parseRange } from '../httpserver/request/client-address.ts'
import type { LogLevel } from '../telemetry/logger.ts'
import { coerce } from './coerce.ts'
import { ConfigError, toProblems } from './config-error.ts'
import { boolean, choice, integer, port, section, text, texts } from './option.ts'
import { audit } from './sections/audit.ts'
import { authentication } from './sections/authentication.ts'
import { commandLineClient, defaultClient } from './sections/built-in-clients.ts'
import { cache } from './sections/cache.ts'
import type { ClientConfig, RegisteredClient } from './sections/client.ts'
import { limits } from './sections/limits.ts'
import { type LogStoreSecrets, type LogsConfig, logs, withoutSecrets } from './sections/logs.ts'
import { oauth } from './sections/oauth.ts'
import { registries } from './sections/registries.ts'
import { tls } from './sections/tls.ts'
import { tracing } from './sections/tracing.ts'

const logLevels = ['info', 'debug', 'warn', 'error'] as const satisfies readonly LogLevel[]

/** The configuration file. Durations are in seconds. */
export const document = section({
  groupDomain: text({
    default: 'kapis.io',
    env: 'KAPIS_GROUP_DOMAIN',
    pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    is: 'a DNS subdomain such as kapis.io',
    description:
      'Domain of every API group, label and annotation that Kapis serves. `kubesphere.io` makes Kapis serve the paths of KubeSphere.',
  }),
  listen: section({
    address: text({
      default: '0.0.0.0',
      env: 'KAPIS_LISTEN_ADDRESS',
      description: 'Address of the HTTPS listener.',
    }),
    port: port({
      default: 9443,
      env: 'KAPIS_LISTEN_PORT',
      description: 'Port of the HTTPS listener; 0 for any free one.',
    }),
    trustedProxies: texts({
      item: z.string({ error: 'must be a string' }).refine(isRange, {
        error: ({ input }) =>
          `must be an IP address or a CIDR such as 10.0.0.0/8, not ${JSON.stringify(input)}`,
      }),
      env: 'KAPIS_TRUSTED_PROXIES',
      isReloaded: true,
      description:
        'Addresses and CIDRs of trusted proxies before Kapis: a list, or comma-separated in the environment. Only their X-Forwarded-For header is used, read from the right until the first address that is not trusted. Without trusted proxies the client address is that of the connection.',
    }),
  }).prefault({}),
  http: section({
    enabled: boolean({
      default: false,
      env: 'KAPIS_HTTP_ENABLED',
      description:
        'An additional plain HTTP listener, for platforms that expose port 80. Tokens cross the network in clear text: use it only behind a proxy that terminates TLS.',
    }),
    address: text({
      default: '0.0.0.0',
      env: 'KAPIS_HTTP_ADDRESS',
      description: 'Address of the plain HTTP listener.',
    }),
    port: port({ default: 9080, env: 'KAPIS_HTTP_PORT', description: 'Port of the plain HTTP listener.' }),
  }).prefault({}),
  kubernetes: section({
    kubeconfig: text({
      default: '',
      env: 'KAPIS_KUBECONFIG',
      description: 'kubeconfig file for kube-apiserver; empty for the service account of the Pod.',
    }),
    namespace: text({
      default: 'kapis-system',
      env: 'KAPIS_NAMESPACE',
      pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
      is: 'a namespace name',
      description: 'Namespace of the Secrets and the Service of Kapis.',
    }),
  }).prefault({}),
  service: section({
    name: text({
      default: 'kapis',
      env: 'KAPIS_SERVICE_NAME',
      description: 'Service that the APIService points to; the serving certificate is valid for its name.',
    }),
    port: port({ default: 443, env: 'KAPIS_SERVICE_PORT', description: 'Port of that Service.' }),
  }).prefault({}),
  tls: tls.prefault({}),
  oauth: oauth.prefault({}),
  cache: cache.prefault({}),
  multicluster: section({
    enabled: boolean({
      default: false,
      env: 'KAPIS_MULTICLUSTER_ENABLED',
      description: 'Serve member clusters below /clusters/{name}: see docs/clusters.md.',
    }),
  }).prefault({}),
  registries: registries.prefault({}),
  authentication: authentication.prefault({}),
  limits: limits.prefault({}),
  audit: audit.prefault({}),
  tracing: tracing.prefault({}),
  accessLog: boolean({
    default: false,
    env: 'KAPIS_ACCESS_LOG',
    isReloaded: true,
    description: 'Write one log line for each request. Log level debug always does.',
  }),
  logs: logs.prefault({}),
  logLevel: choice({
    of: logLevels,
    default: 'info',
    env: 'KAPIS_LOG_LEVEL',
    isReloaded: true,
    description: 'debug, info, warn or error.',
  }),
  shutdownDelaySeconds: integer({
    default: 15,
    min: 0,
    max: 300,
    env: 'KAPIS_SHUTDOWN_DELAY_SECONDS',
    isReloaded: true,
    description:
      'How long to continue serving after SIGTERM, in seconds, with a failing /readyz, so that load balancers stop sending requests.',
  }),
})
type ConfigDocument = z.output<typeof document>

/** The whole configuration of both programs, without secrets. */
export type Config = Readonly<Omit<ConfigDocument, 'oauth' | 'logs'>> & {
  readonly oauth: Readonly<Omit<ConfigDocument['oauth'], 'clients'>> & {
    readonly issuer: string
    readonly audience: string
    readonly clients: readonly ClientConfig[]
  }
  readonly logs: LogsConfig
}

/** The secrets, separate from Config so that a configuration can be printed. */
export type Secrets = {
  readonly clientSecrets: ReadonlyMap<string, string>
  readonly logStore: LogStoreSecrets
}

/** The default OAuth clients of consoles, scripts and `kapis login`. */
const usualClients: readonly RegisteredClient[] = [
  { client: defaultClient, secret: defaultClient.name },
  { client: commandLineClient, secret: undefined },
]

/**
 * Validates a parsed configuration file with the values of the environment (see env.ts), and adds
 * defaults.
 *
 * @throws ConfigError with every problem, each with its path
 */
export function parseConfig(input: unknown): { readonly config: Config; readonly secrets: Secrets } {
  const read = document.safeParse(coerce(document, input))
  if (!read.success) throw new ConfigError(toProblems(document, read.error))
  const { oauth: oauthSection, logs: logsGiven, ...rest } = read.data
  const { clients: registered = usualClients, ...ofIssuer } = oauthSection
  const { logs: ofLogs, secrets: logStore } = withoutSecrets(logsGiven)
  const config: Config = {
    ...rest,
    oauth: {
      ...ofIssuer,
      issuer: oauthSection.issuer ?? `https://localhost:${rest.listen.port}/oauth`,
      audience: oauthSection.audience ?? rest.groupDomain,
      clients: registered.map(({ client }) => client),
    },
    logs: ofLogs,
  }
  const clientSecrets = new Map<string, string>()
  for (const { client, secret } of registered)
    if (secret !== undefined) clientSecrets.set(client.name, secret)
  return { config: Object.freeze(config), secrets: { clientSecrets, logStore } }
}

function isRange(text: string): boolean {
  try {
    parseRange(text)
    return true
  } catch {
    return false
  }
}
