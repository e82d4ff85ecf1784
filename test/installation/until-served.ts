import { eventually } from '../e2e/http.ts'
import type { Cluster } from './control-plane.ts'

/**
 * Waits until kubectl finds the extension API. kube-apiserver reports the APIService as available
 * some time before its resources are in discovery.
 *
 * @throws Error after some minutes
 */
export async function untilServed(cluster: Cluster): Promise<void> {
  const apiService = 'apiservice/v1alpha3.resources.kapis.io'
  let looks = 0
  await eventually(
    async () => {
      // kube-apiserver checks changed objects immediately, but unchanged ones only every 30 or 60
      // seconds.
      await cluster.kubectl(['annotate', apiService, `looks=${++looks}`, '--overwrite'])
      await cluster.output(['wait', '--for=condition=Available', apiService, '--timeout=5s'])
      await eventually(() => cluster.output(['get', 'nodes.resources.kapis.io']), 5_000, 250)
    },
    120_000,
    250,
  )
}
