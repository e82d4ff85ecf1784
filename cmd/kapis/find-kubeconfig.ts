import { devNull } from 'node:os'
import { createKubeClient, type KubeClient } from '../../pkg/kubeclient/client.ts'
import { loadRestConfig } from '../../pkg/kubeclient/config/rest-config.ts'
import type { Io } from './command.ts'
import { kubeconfigFiles, loadKubeconfig } from './kubeconfig/files.ts'

/** Options of every command that sends requests to kube-apiserver. */
export const clusterOptions = { kubeconfig: { type: 'string' }, context: { type: 'string' } } as const

/** @throws Error */
export function connectCluster(
  values: { readonly kubeconfig?: string | undefined; readonly context?: string | undefined },
  io: Io,
): KubeClient {
  return createKubeClient(loadRestConfig(findKubeconfig(io, values.kubeconfig), values.context))
}

/**
 * Returns the files that kubectl would merge; none means the service account of the Pod.
 *
 * @param explicit the option --kubeconfig
 * @throws Error with the name of a file that kubectl cannot load
 */
export function findKubeconfig({ env }: Pick<Io, 'env'>, explicit?: string): readonly string[] {
  const { files } = loadKubeconfig(kubeconfigFiles(env, explicit))
  if (explicit !== undefined && files.length === 0)
    throw new Error(`the kubeconfig ${explicit} does not exist`)
  return files.map(({ path }) => path).filter(path => path !== devNull)
}
