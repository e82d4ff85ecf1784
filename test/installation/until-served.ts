import { eventually } from '../e2e/http.ts'
import type { Cluster } from './control-plane.ts'

/**
 * Returns when kubectl finds the aggregated API. kube-apiserver calls its APIService available a moment before it tells of the
 * resources.
 *
 * @throws Error after minutes
 */
export async function untilServed(cluster: Cluster): Promise<void> {
  const apiService = 'apiservice/v1alpha3.resources.kapis.io'
  await cluster.output(['wait', '--for=condition=Available', apiService, '--timeout=60s'])
  await eventually(() => cluster.output(['get', 'nodes.resources.kapis.io']), 60_000, 250)
}
