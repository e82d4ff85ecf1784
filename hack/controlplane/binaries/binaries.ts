import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type BinaryName, type BuildTools, buildBinary } from './build.ts'
import { ensureCached } from './cache.ts'
import { cacheKey, loadVersions } from './versions.ts'

/** Programs of an archive of envtest. */
const archived: readonly BinaryName[] = ['etcd', 'kube-apiserver', 'kubectl']

export type Binaries = Readonly<Record<BinaryName, string>>

/**
 * Returns the programs of a real control plane. Searches KUBEBUILDER_ASSETS and the shared cache.
 * Missing programs are built.
 */
export async function ensureBinaries(making: BuildTools): Promise<Binaries> {
  const { say } = making
  const assets = process.env.KUBEBUILDER_ASSETS
  if (assets) {
    const lacking = archived.filter(name => !existsSync(join(assets, name)))
    if (lacking.length > 0) throw new Error(`KUBEBUILDER_ASSETS=${assets} has no ${lacking.join(', ')}`)
    say(`control plane of KUBEBUILDER_ASSETS (${assets})`)
  }
  const folder = join('controlplane', cacheKey(loadVersions()))
  const ensure = async (name: BinaryName) => {
    if (assets && existsSync(join(assets, name))) return join(assets, name)
    return ensureCached(join(folder, name), say, path => buildBinary(name, path, making))
  }
  return {
    etcd: await ensure('etcd'),
    'kube-apiserver': await ensure('kube-apiserver'),
    kubectl: await ensure('kubectl'),
    'kube-controller-manager': await ensure('kube-controller-manager'),
    kwok: await ensure('kwok'),
  }
}
