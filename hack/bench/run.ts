import { resolve } from 'node:path'
import { repository } from '../controlplane/settings.ts'
import { type BenchEnv, withCluster } from './cluster.ts'
import { benchLists } from './lists.ts'
import { benchLogs, logsClusterSize } from './logs/logs.ts'
import { benchNarrowed } from './narrowed.ts'
import { benchOAuth } from './oauth/oauth.ts'
import { benchNodes, benchProxy } from './reads.ts'
import { benchStart } from './start.ts'

const benchmarks: Readonly<Record<string, (env: BenchEnv) => Promise<void>>> = {
  nodes: benchNodes,
  proxy: benchProxy,
  oauth: benchOAuth,
  lists: benchLists,
  narrowed: benchNarrowed,
  logs: benchLogs,
}

/** Benchmarks that only run alone: they measure idle memory in a small cluster. */
const alone: Readonly<Record<string, (env: BenchEnv) => Promise<void>>> = { start: benchStart }

const runDir = resolve(repository, process.env.RUN_DIR ?? '.run-bench')

async function main(): Promise<void> {
  const only = (process.env.ONLY ?? '').split(',').filter(Boolean)
  const chosen = only.length === 1 && only[0] !== undefined && only[0] in alone ? alone : benchmarks
  const unknown = only.filter(name => chosen[name] === undefined)
  if (unknown.length > 0) {
    const names = Object.keys(benchmarks).join(', ')
    throw new Error(
      `unknown benchmark ${unknown.join(', ')}; supported: ${names}; only with ONLY: ${Object.keys(alone).join(', ')}`,
    )
  }
  // The peers ship no logs, so Kapis only ships them for the log benchmarks.
  const logStore = only.length === 0 || only.includes('logs') ? 'embedded' : 'none'
  const settings = { ...sizeFor(only), LOG_STORE: logStore, ...process.env, RUN_DIR: runDir }
  await withCluster(settings, async env => {
    for (const [name, run] of Object.entries(chosen)) {
      if (only.length > 0 && !only.includes(name)) continue
      console.log(`\n== ${name}`)
      await run(env)
    }
  })
}

/** Returns the size of the cluster: updates of thousands of nodes would slow other benchmarks. */
function sizeFor(only: readonly string[]): { readonly NODES: string; readonly PODS: string } {
  const [name] = only.length === 1 ? only : []
  if (name !== undefined && name in alone) return { NODES: '3', PODS: '10' }
  // The same size as for OpenSearch.
  if (name === 'logs') return logsClusterSize
  // The benchmark creates its own pods.
  if (name === 'narrowed') return { NODES: '3', PODS: '0' }
  return { NODES: name === 'lists' ? '200' : '5000', PODS: '1000' }
}

await main().catch(error => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
