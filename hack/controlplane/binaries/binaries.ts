import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { withLock } from '../processes/lock-file.ts'
import { type BinaryName, type BuildTools, buildBinary } from './build.ts'
import { cacheKey, loadVersions } from './versions.ts'

const names: readonly BinaryName[] = ['etcd', 'kube-apiserver', 'kubectl', 'kube-controller-manager', 'kwok']
/** Programs of the envtest archive; the others are built from their modules. */
const archived: readonly BinaryName[] = ['etcd', 'kube-apiserver', 'kubectl']

export type Binaries = Readonly<Record<BinaryName, string>>

/**
 * Returns the programs of a real control plane. Searches KUBEBUILDER_ASSETS and the shared cache.
 * Missing programs are downloaded, or built if that fails.
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

/** Builds or downloads missing programs next to the cache; complete ones are moved into it. */
async function fill(cache: string, missing: () => BinaryName[], making: BuildTools): Promise<void> {
  const { say } = making
  mkdirSync(cache, { recursive: true })
  // The folder of a killed process: the lock shows that no other process is building.
  for (const left of globSync(`${cache}.new-*`)) rmSync(left, { recursive: true, force: true })
  const scratch = mkdtempSync(`${cache}.new-`)
  const publish = (name: string) => renameSync(join(scratch, name), join(cache, name))
  try {
    if (missing().some(name => archived.includes(name))) {
      const reason = await download(scratch, say)
      if (reason !== undefined) say(`no download (${reason}): building instead`)
      else for (const name of readdirSync(scratch)) publish(name)
    }
    for (const name of missing()) {
      await buildBinary(name, join(scratch, name), making)
      publish(name)
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** @returns the reason if the download has failed */
function download(folder: string, say: (line: string) => void): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const child = spawn(process.execPath, [join(import.meta.dirname, 'download.ts'), folder], {
    env: { ...process.env, NODE_USE_ENV_PROXY: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let reason = ''
  child.stdout.on('data', (chunk: Buffer) => say(chunk.toString('utf8').trim()))
  child.stderr.on('data', (chunk: Buffer) => {
    reason += chunk.toString('utf8')
  })
  child.on('error', error => resolve(error.message))
  child.on('close', code =>
    resolve(code === 0 ? undefined : (reason.trim().split('\n').at(-1) ?? `exit code ${code}`)),
  )
  return promise
}
