import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { withLock } from '../processes/lock-file.ts'
import { type BinaryName, type BuildTools, buildBinary } from './build.ts'
import { cacheKey, loadVersions } from './versions.ts'

const names: readonly BinaryName[] = ['etcd', 'kube-apiserver', 'kubectl', 'kube-controller-manager', 'kwok']
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
  const cache = join(cacheFolder(), 'controlplane', cacheKey(loadVersions()))
  const folders = assets ? [assets, cache] : [cache]
  const missing = () => names.filter(name => find(folders, name) === undefined)
  if (missing().length > 0) {
    say(`not in the cache yet: ${missing().join(', ')} (${cache})`)
    await withLock(`${cache}.lock`, say, () => fill(cache, missing, making))
  }
  const path = (name: BinaryName) => find(folders, name) ?? ''
  return {
    etcd: path('etcd'),
    'kube-apiserver': path('kube-apiserver'),
    kubectl: path('kubectl'),
    'kube-controller-manager': path('kube-controller-manager'),
    kwok: path('kwok'),
  }
}

function find(folders: readonly string[], name: BinaryName): string | undefined {
  return folders.map(folder => join(folder, name)).find(file => existsSync(file))
}

function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kapis')
}

/** Builds missing programs next to the cache; complete ones are moved into it. */
async function fill(cache: string, missing: () => BinaryName[], making: BuildTools): Promise<void> {
  mkdirSync(cache, { recursive: true })
  // The folder of a killed process: the lock shows that no other process is building.
  for (const left of globSync(`${cache}.new-*`)) rmSync(left, { recursive: true, force: true })
  const scratch = mkdtempSync(`${cache}.new-`)
  try {
    for (const name of missing()) {
      await buildBinary(name, join(scratch, name), making)
      renameSync(join(scratch, name), join(cache, name))
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
