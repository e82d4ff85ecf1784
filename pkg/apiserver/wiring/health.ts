import type { KubeClient } from '../../kubeclient/client.ts'
import { checkCredential } from '../health/credential-check.ts'
import { createHealthMetrics, type HealthMetrics } from '../health/health-metrics.ts'
import { checkOAuthReadiness } from '../health/oauth-readiness-check.ts'
import { type Check, createProbes, type Probes } from '../health/probes.ts'

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
