import { expect } from 'chai'
import { eventually } from '../e2e/http.ts'
import type { Cluster } from './control-plane.ts'

const mark = ['-l', 'app.kubernetes.io/name=kapis']
const lasting =
  'crd,namespaces,apiservices,clusterroles,clusterrolebindings,rolebindings,serviceaccounts,deployments'

/**
 * Deletes an installation and waits until all its objects are gone, since objects that are still
 * being deleted block the next installation.
 *
 * @param what arguments of kubectl: -k and a folder, or -f and a file, or `-` for `stdin`
 * @throws Error with the remaining objects after some minutes
 */
export async function takeAway(cluster: Cluster, what: readonly string[], stdin?: string): Promise<void> {
  // Once the aggregated API is no longer served, the namespace controller cannot tell what a
  // namespace holds while its APIService is there, and waits longer after each attempt, up to a
  // minute.
  await cluster.output(['delete', 'apiservices', ...mark, '--timeout=60s'])
  // With Pods in it, a namespace waits for half of their terminationGracePeriodSeconds before it is
  // checked again.
  await cluster.output(['delete', 'deployments', '-A', ...mark, '--cascade=foreground', '--timeout=60s'])
  await cluster.output(['delete', ...what, '--ignore-not-found', '--wait=false'], stdin)
  let looks = 0
  await eventually(
    async () => {
      // kube-apiserver deletes a definition once its objects are gone; when it could not tell, it
      // looks again after longer and longer times, minutes in the end. A change of the definition
      // lets it look immediately.
      if (++looks % 4 === 0)
        await cluster.kubectl(['annotate', 'crd', ...mark, `looks=${looks}`, '--overwrite'])
      const left = await cluster.kubectl(['get', lasting, '-A', ...mark, '-o', 'name'])
      expect([left.code, left.stdout], left.stderr).to.deep.equal([0, ''])
    },
    180_000,
    500,
  )
}
