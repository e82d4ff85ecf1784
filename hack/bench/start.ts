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
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { createPortFinder } from '../controlplane/ports.ts'
import type { BenchEnv } from './env.ts'
import { median } from './load.ts'
import { repository } from './plane.ts'

type Figures = { readonly readyMs: number; readonly cpuMs: number; readonly residentMb: number }

const rounds = 5
const idleMs = 10_000
const readyWithinMs = 60_000
const target = { readyMs: 1_500, residentMb: 100 }

/**
 * From the start of kapis-apiserver to the first 200 of /readyz, and what it holds in memory ten seconds later with nothing to do:
 * compiled and in the environment of the image, next to kapis-oauth that runs. No peer: the targets are absolute.
 */
export async function benchStart(env: BenchEnv): Promise<void> {
  const folder = mkdtempSync(join(env.runDir, 'start-'))
  try {
    const program = build(join(folder, 'kapis'))
    console.log('| front | start to ready | CPU time until then | resident, idle |\n|---|---|---|---|')
    for (const store of ['none', 'embedded'] as const) {
      const figures: Figures[] = []
      for (let round = 0; round < rounds; round++) {
        figures.push(await startOnce(program, join(folder, `${store}-${round}`), { env, store }))
      }
      report(store, figures)
    }
    const listener = residentMb(env.pids.get('oauth') ?? 0)
    console.log(`\nresident memory of kapis-oauth, from source: ${listener} MB`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function report(store: string, figures: readonly Figures[]): void {
  const middle = (of: (one: Figures) => number) => Math.round(median(figures.map(of)))
  const [readyMs, residentMb] = [middle(one => one.readyMs), middle(one => one.residentMb)]
  const verdict = (isMet: boolean, allowed: string) => `${isMet ? 'met' : 'MISSED'} (<= ${allowed})`
  console.log(
    `| log store ${store} | ${readyMs} ms ${verdict(readyMs <= target.readyMs, '1.5 s')} | ${middle(one => one.cpuMs)} ms ` +
      `| ${residentMb} MB ${verdict(residentMb <= target.residentMb, '100 MB')} |`,
  )
}

/** What the image has in /kapis. */
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
): Promise<Figures> {
  mkdirSync(folder)
  const plane = parse(readFileSync(join(env.runDir, 'kapis.yaml'), 'utf8'))
  const ports = createPortFinder()
  const port = await ports.any()
  const logs = { store, embedded: { folder: join(folder, 'logs') } }
  const config = { ...plane, listen: { ...plane.listen, port }, logs }
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
    const cpuMs = cpuMsOf(child.pid ?? 0)
    await sleep(idleMs)
    return { readyMs, cpuMs, residentMb: residentMb(child.pid ?? 0) }
  } finally {
    const ended = once(child, 'exit')
    if (child.exitCode === null && child.signalCode === null && child.kill()) await ended
    ports.release()
  }
}

/** What ENV of the Dockerfile says. */
function imageEnvironment(): Readonly<Record<string, string>> {
  const text = readFileSync(join(repository, 'Dockerfile'), 'utf8').replaceAll(/\\\n/g, ' ')
  const [, words = ''] = /^ENV (.*)$/m.exec(text) ?? []
  const set = words.trim().split(/\s+/)
  // What is made of arguments of the build is of no weight here.
  const plain = set.map(word => word.split('=')).filter(([, value = '']) => !value.includes('$'))
  return Object.fromEntries(plain)
}

async function untilReady(child: ChildProcess, port: number, log: string): Promise<number> {
  const deadline = performance.now() + readyWithinMs
  while (performance.now() < deadline && child.exitCode === null && child.signalCode === null) {
    if ((await ready(port)) === 200) return performance.now()
    await sleep(10)
  }
  throw new Error(`kapis-apiserver is not ready:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
}

function ready(port: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const req = request(
    // Whose certificate it is does not matter to how long it takes.
    { host: '127.0.0.1', port, path: '/readyz', agent: false, rejectUnauthorized: false },
    res => {
      res.resume()
      resolve(res.statusCode ?? 0)
    },
  )
  req.on('error', () => resolve(0))
  req.end()
  return promise
}

/** User and system time of a process so far; the kernel counts in hundredths of a second. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round((Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6)
}
