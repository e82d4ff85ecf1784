import { methodNotAllowed } from '../../apierrors/status.ts'
import { send } from '../../httpserver/response/respond.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { counter, createEmptyRegistry, gauge } from '../../telemetry/metrics.ts'
import type { DocumentRoute } from '../wiring/path-router.ts'
import { checkCredential } from './credential-check.ts'
import { checkOAuthReadiness } from './oauth-readiness-check.ts'
import { type Check, createProbes, type Outcome, type Probes } from './probes.ts'

export type HealthMetrics = { readonly observe: (outcome: Outcome) => void; readonly document: DocumentRoute }

/** Serves /metrics/slis: the health checks as metrics of Kubernetes components (KEP-3466). */
export function createHealthMetrics(): HealthMetrics {
  const registry = createEmptyRegistry()
  const last = gauge(registry, {
    name: 'kubernetes_healthcheck',
    help: 'This metric records the result of a single healthcheck.',
    labels: ['name', 'type'],
  })
  const all = counter(registry, {
    name: 'kubernetes_healthchecks_total',
    help: 'This metric records the results of all healthcheck.',
    labels: ['name', 'status', 'type'],
  })
  return {
    observe({ probe: type, name, isGood }) {
      last.set({ name, type }, isGood ? 1 : 0)
      all.inc({ name, status: isGood ? 'success' : 'error', type })
    },
    document: {
      handles: path => path === '/metrics/slis',
      async handle({ req, res }) {
        if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
        send(res, 200, Buffer.from(await registry.metrics()), { 'content-type': registry.contentType })
      },
    },
  }
}

/** Wires the probes with the checks of all parts, and exports their results as metrics. */
export function createHealth(parts: {
  readonly checks: readonly Check[]
  /** Checks of optional parts, which do not affect the readiness of the program. */
  readonly partial: readonly Check[]
  readonly client: KubeClient
  /** Unix socket of kapis-oauth. */
  readonly socket: string
  readonly signal: AbortSignal
}): { readonly probes: Probes; readonly document: HealthMetrics['document'] } {
  const { checks, partial, client, socket, signal } = parts
  const slis = createHealthMetrics()
  const own = [checkOAuthReadiness({ socket, signal }), checkCredential({ client, signal })]
  return { probes: createProbes([...checks, ...own, ...partial], slis.observe), document: slis.document }
}
