import { methodNotAllowed } from '../../../apierrors/status.ts'
import { rejectOverrides } from '../../../apirequest/ambiguous-headers.ts'
import type { AuthenticatedExchange, Handler } from '../../../apirequest/request-context.ts'
import { hasVerbPrefix, isPlatformPrefix } from '../../../apirequest/request-info.ts'
import { assertMayUpgrade } from '../../../authz/token-scope.ts'
import { FrontProxyCertificates } from '../../../certs/front-proxy-certificates.ts'
import type { Config } from '../../../config/config.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { retryUntilSuccess } from '../../../kubeclient/retry.ts'
import { forwardToComponent } from '../../../proxy/components/component-proxy.ts'
import type { ComponentUpstream } from '../../../proxy/components/component-upstream.ts'
import { Components } from '../../../proxy/components/components.ts'
import { remoteHeaderNames } from '../../../proxy/identity-headers.ts'
import { componentUpgrade, forwardUpgrade } from '../../../proxy/upgrade.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Peer, Tracing } from '../../../telemetry/tracing/tracing.ts'

export type RunningComponents = {
  readonly find: (group: string, version: string) => Handler | undefined
  readonly serves: (group: string, version: string) => boolean
  /** Handles an upgrade; resolves to false if the request is not for a component. */
  readonly upgrade: (exchange: AuthenticatedExchange) => Promise<boolean>
  readonly start: () => void
  readonly stop: () => void
}

const retryMs = 10_000
/** Groups of the platform, which other components cannot register. */
const ownGroups = [
  'resources',
  'iam',
  'tenant',
  'logging',
  'config',
  'extensions',
  'oauth',
  'terminal',
  'operations',
]

/** Wires the APIs of other components, and the front-proxy certificate for them. */
export function createComponents({
  client,
  config,
  logger,
  tracing,
}: {
  readonly client: KubeClient
  readonly config: Config
  readonly logger: Logger
  readonly tracing: Tracing
}): RunningComponents {
  const { groupDomain, kubernetes } = config
  const certificates = new FrontProxyCertificates({
    client,
    namespace: kubernetes.namespace,
    logger,
    headers: remoteHeaderNames,
  })
  const own = new Set(ownGroups.map(name => `${name}.${groupDomain}`))
  const components = new Components({
    client,
    groupDomain,
    logger,
    // Groups without a dot, and those of k8s.io, are reserved for Kubernetes (KEP-2337).
    isReserved: group => own.has(group) || !group.includes('.') || group.endsWith('.k8s.io'),
    pair: () => certificates.current(),
  })
  certificates.onChange(() => components.certificateChanged())
  const abort = new AbortController()

  /** Loads the certificate in the background: without it, only the components are unavailable. */
  function prepare(): Promise<void> {
    const message = 'failed to load the front-proxy certificate, retrying'
    return retryUntilSuccess(() => certificates.start(), {
      logger,
      signal: abort.signal,
      delayMs: retryMs,
      message,
    })
  }

  return {
    find(group, version) {
      const upstream = components.find(group, version)
      if (upstream === undefined) return undefined
      return tracing.upstream(toPeer(upstream), exchange => {
        requireOneMethod(exchange)
        return forwardToComponent(upstream, exchange)
      })
    },
    serves: (group, version) => components.find(group, version) !== undefined,
    async upgrade(exchange) {
      const { info } = exchange
      if (!isPlatformPrefix(info.prefix)) return false
      const upstream = components.find(info.group, info.version)
      if (upstream === undefined) return false
      requireOneMethod(exchange)
      assertMayUpgrade(info, exchange.identity)
      const forward = tracing.upstream(toPeer(upstream), (exchange: AuthenticatedExchange) =>
        forwardUpgrade(componentUpgrade(upstream, exchange), exchange),
      )
      await forward(exchange)
      return true
    },
    start() {
      void prepare().then(() => components.start())
    },
    stop() {
      abort.abort()
      certificates.stop()
      components.stop()
    },
  }
}

/**
 * Rejects requests that a component could interpret differently than they were authorized. For
 * example, servers that follow Kubernetes treat the path prefix `watch` as a watch for all methods.
 *
 * @throws Status 400, 405
 */
function requireOneMethod({ req, info }: AuthenticatedExchange): void {
  rejectOverrides(req)
  const isReading = req.method === 'GET' || req.method === 'HEAD'
  if (hasVerbPrefix(info) && info.verb !== 'proxy' && !isReading) throw methodNotAllowed(['GET', 'HEAD'])
}

function toPeer({ component: { name, url } }: ComponentUpstream): Peer {
  return { name, url }
}
