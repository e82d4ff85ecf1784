import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { dirname, join } from 'node:path'
import { createPortFinder } from '../../hack/controlplane/processes/ports.ts'
import { childEnvironment } from '../../hack/controlplane/settings.ts'
import { platformConfigPath } from '../../pkg/oauth/endpoints/platform-config.ts'
import { uniqueName } from '../e2e/cluster.ts'
import { eventually } from '../e2e/http.ts'
import { scratch, setting } from '../e2e/run.ts'
import type { FaultSettings } from './preload.ts'

/**
 * An additional kapis-apiserver, optionally with a kapis-oauth, for faults that must not affect
 * others.
 */
export type Replica = {
  readonly url: string
  readonly apiserver: ChildProcess
  /** Unix socket of its kapis-oauth. */
  readonly socket: string
  /** Sets the current faults; see preload.ts. */
  readonly set: (wrong: Partial<FaultSettings>) => void
  /** Kills a program with SIGKILL; resolves when its process has ended. */
  readonly kill: (program: Program) => Promise<void>
  /** Starts a killed program again; resolves when it is ready. */
  readonly start: (program: Program) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Name of the program without the prefix `kapis-`, as in cmd/. */
export type Program = 'apiserver' | 'oauth'

export type ReplicaOptions = {
  /** Fields of the kubeconfig that replace those for the running kube-apiserver. */
  readonly cluster?: object
  readonly user?: object
  /** Configuration in addition to that of the running kapis-apiserver. */
  readonly config?: object
  readonly listen?: object
  readonly oauth?: object
  readonly hasOwnListener?: boolean
  /** The initial faults. */
  readonly wrong?: Partial<FaultSettings>
}

const sources = join(import.meta.dirname, '../../cmd')

/** Starts a replica that shares certificates, keys and logins with the running programs. */
export async function startReplica(options: ReplicaOptions): Promise<Replica> {
  const folder = dirname(setting('KAPIS_CA'))
  const name = uniqueName('replica')
  const own = (suffix: string) => join(scratch, `${name}${suffix}`)
  const kubeconfig = JSON.parse(readFileSync(join(folder, 'kapis.kubeconfig'), 'utf8'))
  if (options.cluster) kubeconfig.clusters[0].cluster = options.cluster
  if (options.user) kubeconfig.users[0].user = options.user
  writeFileSync(own('.kubeconfig'), JSON.stringify(kubeconfig))
  const config = JSON.parse(readFileSync(join(folder, 'kapis.yaml'), 'utf8'))
  const ports = createPortFinder()
  const port = await ports.any()
  const socket = options.hasOwnListener ? own('.sock') : config.oauth.socket
  const given = {
    ...{ ...config, logs: { store: 'none' }, listen: { address: '127.0.0.1', port, ...options.listen } },
    ...{ kubernetes: { ...config.kubernetes, kubeconfig: own('.kubeconfig') } },
    ...{ oauth: { ...config.oauth, socket, ...options.oauth }, ...options.config },
  }
  writeFileSync(own('.json'), JSON.stringify(given))
  let wrong: FaultSettings = { clockMs: 0, names: 'resolve' }
  const set = (change: Partial<FaultSettings>) => {
    wrong = { ...wrong, ...change }
    writeFileSync(own('.fault'), JSON.stringify(wrong))
  }
  set(options.wrong ?? {})
  const launch = (program: Program) => {
    const preload = join(import.meta.dirname, 'preload.ts')
    return spawn(
      process.execPath,
      ['--import', preload, join(sources, program, 'main.ts'), '--config', own('.json')],
      {
        env: { ...childEnvironment(), FAULT_FILE: own('.fault') },
        stdio: 'ignore',
      },
    )
  }
  const url = `https://127.0.0.1:${port}`
  // kapis-oauth publishes its keys before it has loaded the users; until then, logins fail with
  // 503.
  const probes = { apiserver: '/readyz', oauth: platformConfigPath(setting('KAPIS_GROUP_DOMAIN')) }
  const programs: readonly Program[] = options.hasOwnListener ? ['oauth', 'apiserver'] : ['apiserver']
  const children = new Map(programs.map(program => [program, launch(program)]))
  const apiserver = children.get('apiserver')
  if (apiserver === undefined) throw new Error('nothing was started')
  const kill = async (program: Program) => {
    const child = children.get(program)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  const stop = async () => {
    for (const program of programs) await kill(program)
    ports.release()
  }
  const ready = (program: Program) => eventually(() => responses(url, probes[program]), 60_000, 250)
  try {
    await ready('apiserver')
    await ready('oauth')
  } catch (error) {
    await stop()
    throw error
  }
  const start = async (program: Program) => {
    // The process is killed after an error too, since no other code would stop it.
    await kill(program)
    children.set(program, launch(program))
    await ready(program)
  }
  return { url, apiserver, socket, set, kill, start, stop }
}

async function responses(url: string, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const options = { ca: readFileSync(setting('KAPIS_CA')), agent: false }
  const req = request(new URL(path, url), options, res => resolve(res.resume().statusCode ?? 0))
  req.on('error', reject).end()
  const code = await promise
  if (code !== 200) throw new Error(`${path} responded with ${code}`)
}
