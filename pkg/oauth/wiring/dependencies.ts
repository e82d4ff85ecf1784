import type { Config } from '../../config/config.ts'
import type { Reloads } from '../../config/config-file.ts'
import { observeReloads } from '../../config/reload-metrics.ts'
import { createKubeClient, type KubeClient } from '../../kubeclient/client.ts'
import { loadRestConfig } from '../../kubeclient/config/rest-config.ts'
import { withServiceAccountErrors } from '../../kubeclient/errors/service-account-errors.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { createRegistry, type Registry } from '../../telemetry/metrics.ts'
import { startTracing } from '../../telemetry/tracing/start.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'

/** Dependencies that the parts of kapis-oauth share. */
export type Dependencies = {
  readonly config: Config
  readonly reloads: Reloads
  readonly logger: Logger
  readonly client: KubeClient
  readonly metricsRegistry: Registry
  readonly tracing: Tracing
}

/** A part with a watch of kube-apiserver. */
export type StartableWatch = {
  readonly isReady: boolean
  readonly start: () => Promise<void>
  readonly stop: () => void
}

export async function createDependencies(parts: {
  readonly config: Config
  readonly reloads: Reloads
  readonly logger: Logger
  readonly version: string
}): Promise<Dependencies> {
  const { config, reloads, logger, version } = parts
  const metricsRegistry = createRegistry()
  observeReloads(metricsRegistry, reloads)
  const tracing = await startTracing({
    config: config.tracing,
    program: 'kapis-oauth',
    version,
    logger,
    registry: metricsRegistry,
    // Trusts the trace context of every caller: only kapis-apiserver can connect to the socket, and
    // it has decided whether to trace.
    continues: 'everybody',
  })
  const endpoint = loadRestConfig(config.kubernetes.kubeconfig)
  const kubeApiserver = { name: 'kube-apiserver', url: endpoint.url }
  const client = withServiceAccountErrors(tracing.client(createKubeClient(endpoint), kubeApiserver))
  return { config, reloads, logger, client, metricsRegistry, tracing }
}
