import { existsSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createProcessRecords } from '../../hack/controlplane/processes/records.ts'
import { repository } from '../../hack/controlplane/settings.ts'
import { type CommandResult, follow, type RunningCommand, run } from '../e2e/run.ts'

/**
 * A control plane without Kapis, in which Kapis can be installed. All test files of one process
 * share it.
 */
export type Cluster = {
  readonly env: Readonly<Record<string, string>>
  readonly runDir: string
  readonly kubectl: (args: readonly string[], stdin?: string) => Promise<CommandResult>
  /** Returns the output of kubectl; fails if kubectl fails. */
  readonly output: (args: readonly string[], stdin?: string) => Promise<string>
}

const upWithinMs = 300_000
const runDir = resolve(repository, `${process.env.RUN_DIR ?? '.run-test'}-bare`)

let running: RunningCommand | undefined
let cluster: Promise<Cluster> | undefined

after(async function () {
  this.timeout(60_000)
  await stopBareCluster()
})

/**
 * Stops the control plane, so that the next call of bareCluster starts another. Test files that run
 * one by one in a process call it, since the hook above belongs to the first of them.
 */
export async function stopBareCluster(): Promise<void> {
  const stopped = running
  running = undefined
  cluster = undefined
  await stopped?.stop()
}

export function bareCluster(): Promise<Cluster> {
  cluster ??= start()
  return cluster
}

async function start(): Promise<Cluster> {
  const settings = {
    RUN_DIR: runDir,
    KAPIS_ONLY_CONTROLPLANE: '1',
    NODES: '2',
    PODS: '2',
    KAPIS_GROUP_DOMAIN: '',
  }
  running = follow(process.execPath, [join(repository, 'hack/controlplane/run.ts')], { env: settings })
  let ended = false
  void running.ended.then(() => {
    ended = true
  })
  const deadline = Date.now() + upWithinMs
  while (!existsSync(join(runDir, 'env'))) {
    if (ended || Date.now() > deadline) throw new Error(`no control plane:\n${running.lines.join('\n')}`)
    await sleep(100)
  }
  const env = createProcessRecords(runDir).readEnv() ?? {}
  const kubectl = (args: readonly string[], stdin = '') =>
    run('kubectl', args, { env, stdin, timeoutMs: 240_000 })
  return {
    env,
    runDir,
    kubectl,
    async output(args, stdin) {
      const { code, stdout, stderr } = await kubectl(args, stdin)
      if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}:\n${stderr}`)
      return stdout
    },
  }
}

/** Returns an address of this machine, since endpoints cannot be loopback addresses. */
export function hostAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap(addresses => addresses ?? [])
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal)
  if (found === undefined)
    throw new Error('this machine has only loopback addresses, which kube-apiserver rejects as endpoints')
  return found.address
}
