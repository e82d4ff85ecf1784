import { field } from '../../pkg/yaml/edit/value.ts'
import type { Io } from './command.ts'
import { kubeconfigFiles, loadKubeconfig } from './kubeconfig/files.ts'

/**
 * Returns the kubeconfig that kubectl would use; '' without one, which means the service account of
 * the Pod. kubectl merges a list of files; here the file with the current context is used.
 *
 * @throws Error with the name of a file that kubectl cannot load
 */
export function findKubeconfig({ env }: Pick<Io, 'env'>): string {
  const { files } = loadKubeconfig(kubeconfigFiles(env))
  const current = files.find(({ value }) => field(value, 'current-context'))
  return (current ?? files[0])?.path ?? ''
}
