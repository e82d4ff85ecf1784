import { join } from 'node:path'
import type { BenchEnv } from './env.ts'
import { benchLists } from './lists.ts'
import { benchLogs } from './logs.ts'
import { benchNodes } from './nodes.ts'
import { benchOAuth } from './oauth.ts'
import { repository, startPlane } from './plane.ts'
import { benchProxy } from './proxy.ts'
import { benchStart } from './start.ts'

const benchmarks: Readonly<Record<string, (env: BenchEnv) => Promise<void>>> = {
  nodes: benchNodes,
  proxy: benchProxy,
  oauth: benchOAuth,
  lists: benchLists,
  logs: benchLogs,
}

/** Not beside the others: what is idle is so in a small cluster. */
const alone: Readonly<Record<string, (env: BenchEnv) => Promise<void>>> = { start: benchStart }

const runDir = join(repository, process.env.RUN_DIR ?? '.run-bench')

async function main(): Promise<void> {
  const only = (process.env.ONLY ?? '').split(',').filter(Boolean)
  const chosen = only.length === 1 && only[0] !== undefined && only[0] in alone ? alone : benchmarks
  const unknown = only.filter(name => chosen[name] === undefined)
  if (unknown.length > 0) {
    const names = Object.keys(benchmarks).join(', ')
    throw new Error(
      `no benchmark ${unknown.join(', ')}; there are ${names}, and alone ${Object.keys(alone).join(', ')}`,
    )
  }
  // What is shipped into a log store is work that the peers do not do: it is there when logs are measured.
  const logStore = only.length === 0 || only.includes('logs') ? 'embedded' : 'none'
  // Lists are of objects of their own: the reports of thousands of nodes would weigh on both servers alike.
  const small = chosen === alone ? { NODES: '3', PODS: '10' } : {}
  const nodes = only.length > 0 && only.every(name => name === 'lists') ? '200' : '5000'
  const settings = {
    NODES: nodes,
    PODS: '1000',
    LOG_STORE: logStore,
    ...small,
    ...process.env,
    RUN_DIR: runDir,
  }
  const plane = await startPlane(settings)
  try {
    for (const [name, run] of Object.entries(chosen)) {
      if (only.length > 0 && !only.includes(name)) continue
      console.log(`\n== ${name}`)
      await run(plane.env)
    }
  } finally {
    plane.stop()
  }
}

await main().catch(error => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
