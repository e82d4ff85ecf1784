import { methodNotAllowed } from '../../apierrors/status.ts'
import { send } from '../../httpserver/response/respond.ts'
import { counter, createEmptyRegistry, gauge } from '../../telemetry/metrics.ts'
import type { DocumentRoute } from '../wiring/path-router.ts'
import type { Outcome } from './probes.ts'

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
