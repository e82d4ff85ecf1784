import { devNull } from 'node:os'
import type { Io } from './command.ts'
import { kubeconfigFiles, loadKubeconfig } from './kubeconfig/files.ts'

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
