import type { KubeClient } from '../../kubeclient/client.ts'
import { checkCredential } from '../health/credential-check.ts'
import { createHealthMetrics, type HealthMetrics } from '../health/health-metrics.ts'
import { checkOAuthReadiness } from '../health/oauth-readiness-check.ts'
import { type Check, createProbes, type Probes } from '../health/probes.ts'

/** Wires the probes with the checks of all parts, and counts their results. */
export function createHealth(parts: {
  readonly checks: readonly Check[]
  /** Checks of parts that the rest of the program works without. */
  readonly partial: readonly Check[]
  readonly client: KubeClient
  /** Of kapis-oauth. */
  readonly socket: string
  readonly signal: AbortSignal
}): { readonly probes: Probes; readonly document: HealthMetrics['document'] } {
  const { checks, partial, client, socket, signal } = parts
  const slis = createHealthMetrics()
  const own = [checkOAuthReadiness({ socket, signal }), checkCredential({ client, signal })]
  return { probes: createProbes([...checks, ...own, ...partial], slis.observe), document: slis.document }
}
