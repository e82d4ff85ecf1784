import { expect } from 'chai'
import { eventually } from '../e2e/http.ts'
import type { Cluster } from './control-plane.ts'

const mark = ['-l', 'app.kubernetes.io/name=kapis']
const lasting =
  'crd,namespaces,apiservices,clusterroles,clusterrolebindings,rolebindings,serviceaccounts,deployments'

/**
 * Deletes an installation and waits until all its objects have been deleted, since remaining
 * objects would block the next installation.
 *
 * @param what arguments of kubectl: -k and a folder, or -f and a file, or `-` for `stdin`
 * @throws Error with the remaining objects after some minutes
 */
export async function uninstall(cluster: Cluster, what: readonly string[], stdin?: string): Promise<void> {
  // APIServices are deleted first. While one exists whose server has stopped, the namespace
  // controller cannot list the content of namespaces, and retries with delays of up to a minute.
  await cluster.output(['delete', 'apiservices', ...mark, '--timeout=60s'])
  // Pods are deleted before the namespace: a namespace with Pods is only checked again after half
  // of their terminationGracePeriodSeconds.
  await cluster.output(['delete', 'deployments', '-A', ...mark, '--cascade=foreground', '--timeout=60s'])
  await cluster.output(['delete', ...what, '--ignore-not-found', '--wait=false'], stdin)
  let looks = 0
  await eventually(
    async () => {
      // kube-apiserver deletes a CRD after its objects. If it could not list them, it retries with
      // delays of up to minutes, but immediately after a change of the CRD.
      if (++looks % 4 === 0)
        await cluster.kubectl(['annotate', 'crd', ...mark, `looks=${looks}`, '--overwrite'])
      const left = await cluster.kubectl(['get', lasting, '-A', ...mark, '-o', 'name'])
      expect([left.code, left.stdout], left.stderr).to.deep.equal([0, ''])
    },
    180_000,
    500,
  )
}
