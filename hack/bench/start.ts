import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { imageEnvironment } from '../controlplane/components.ts'
import { createPortFinder } from '../controlplane/processes/ports.ts'
import { repository } from '../controlplane/settings.ts'
import type { BenchEnv } from './cluster.ts'
import { cpuMs, residentMb } from './process-stats.ts'
import { judge, median } from './report.ts'

type StartMeasurement = { readonly readyMs: number; readonly cpuMs: number; readonly residentMb: number }

const rounds = 5
const idleMs = 10_000
const readyWithinMs = 60_000

/**
 * Measures the time from the start of kapis-apiserver to the first 200 of /readyz, and its idle
 * memory ten seconds later. The program is compiled, with the environment of the image and
 * kapis-oauth running. Targets are absolute, since there are no peers.
 */
export async function benchStart(env: BenchEnv): Promise<void> {
  const folder = mkdtempSync(join(env.runDir, 'start-'))
  try {
    const program = build(join(folder, 'kapis'))
    for (const store of ['none', 'embedded'] as const) {
      const figures: StartMeasurement[] = []
      for (let round = 0; round < rounds; round++) {
        figures.push(await startOnce(program, join(folder, `${store}-${round}`), { env, store }))
      }
      report(store, figures)
    }
    console.log(`resident memory of kapis-oauth, from source: ${residentMb(env.pids.get('oauth') ?? 0)} MB`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function report(store: string, figures: readonly StartMeasurement[]): void {
  const middle = (of: (one: StartMeasurement) => number) => Math.round(median(figures.map(of)))
  const [ready, resident] = [middle(one => one.readyMs), middle(one => one.residentMb)]
  console.log(
    `log store ${store}: ready after ${ready} ms ${judge(ready, { atMost: 1500 }, ' ms')}, CPU time until then ` +
      `${middle(one => one.cpuMs)} ms, resident while idle ${resident} MB ${judge(resident, { atMost: 100 }, ' MB')}`,
  )
}

/** Builds the content of /kapis in the image. */
function build(folder: string): string {
  const built = spawnSync(join(repository, 'hack/build.sh'), [folder], { encoding: 'utf8' })
  if (built.status !== 0) throw new Error(`hack/build.sh: ${built.stdout}${built.stderr}`)
  for (const name of ['node_modules', 'manifests']) symlinkSync(join(repository, name), join(folder, name))
  return join(folder, 'cmd/apiserver/main.js')
}

async function startOnce(
  program: string,
  folder: string,
  { env, store }: { readonly env: BenchEnv; readonly store: 'none' | 'embedded' },
): Promise<StartMeasurement> {
  mkdirSync(folder)
  const cluster = JSON.parse(readFileSync(join(env.runDir, 'kapis.yaml'), 'utf8'))
  const ports = createPortFinder()
  const port = await ports.any()
  const logs = { store, embedded: { folder: join(folder, 'logs') } }
  const config = { ...cluster, listen: { ...cluster.listen, port }, logs }
  const file = join(folder, 'kapis.yaml')
  writeFileSync(file, JSON.stringify(config))
  const log = openSync(join(folder, 'log'), 'w')
  const began = performance.now()
  const child = spawn(process.execPath, [program, '--config', file], {
    env: { PATH: process.env.PATH, ...imageEnvironment() },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  try {
    const readyMs = (await untilReady(child, port, join(folder, 'log'))) - began
    const used = cpuMs(child.pid ?? 0)
    await sleep(idleMs)
    return { readyMs, cpuMs: used, residentMb: residentMb(child.pid ?? 0) }
  } finally {
    const ended = once(child, 'exit')
    if (child.exitCode === null && child.signalCode === null && child.kill()) await ended
    ports.release()
  }
}

async function untilReady(child: ChildProcess, port: number, log: string): Promise<number> {
  const deadline = performance.now() + readyWithinMs
  while (performance.now() < deadline && child.exitCode === null && child.signalCode === null) {
    const response = await fetch(`https://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (response?.ok) return performance.now()
    await sleep(10)
  }
  throw new Error(`kapis-apiserver is not ready:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
}
