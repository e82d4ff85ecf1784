import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasAffinity, pin } from './cores.ts'
import type { BenchEnv } from './env.ts'
import { measure, type Outcome } from './load.ts'

const run = promisify(execFile)
// Many short rounds by turns: what else the machine does then weighs on both sides alike.
const rounds = 5
const roundSeconds = 6
// Code is compiled as it is used, and a login runs through much of it.
const warmUpSeconds = 12
// More than there are cores, so that there is always one to hash next.
const atOnce = 8

type Report = (name: string, mine: readonly number[], beside: readonly number[], target?: number) => void
type Length = { readonly seconds: number } | { readonly requests: number }

/** Password logins by kapis-apiserver, a few at once, for a time or a number of them. */
export function logIn(env: BenchEnv, length: Length, cores?: string): Promise<Outcome> {
  return measure(env.hey, {
    url: `${env.kapisUrl}/oauth/token`,
    connections: atOnce,
    seconds: 0,
    ...length,
    gzip: false,
    form: env.loginForm,
    ...(cores === undefined ? {} : { cores }),
  })
}

/**
 * Logins a second next to what the cores could hash at best. Once Kapis has the very cores that the loop has, as it would have
 * them in a cluster, where kube-apiserver and the callers are elsewhere; and once all of them share all cores.
 */
export async function benchLogins(env: BenchEnv, report: Report): Promise<void> {
  const { perSecond } = await logIn(env, { seconds: warmUpSeconds })
  const threads = availableParallelism()
  if (threads > 1 && hasAffinity()) {
    const half = Math.floor(threads / 2)
    const [ours, theirs] = [toRange(0, half), toRange(half, threads)]
    const isOurs = (name: string) => name === 'oauth' || name === 'apiserver'
    const all = [...env.pids].map(([name, pid]) => ({ pid, cores: isOurs(name) ? ours : theirs }))
    for (const { pid, cores } of all) pin(pid, cores)
    try {
      const share = half / threads
      const own = await takeTurns(env, perSecond * share, { threads, ours, theirs })
      report('logins /s, next to bcrypt, same cores', own.mine, own.plain, 0.9)
    } finally {
      for (const { pid } of all) pin(pid, toRange(0, threads))
    }
  }
  const shared = await takeTurns(env, perSecond, { threads })
  report('  with kube-apiserver on them as well', shared.mine, shared.plain)
}

type Where = { readonly threads: number; readonly ours?: string; readonly theirs?: string }

async function takeTurns(env: BenchEnv, perSecond: number, { threads, ours, theirs }: Where) {
  // Each to its end, as the loop's: what was cut off would have been worked for and not counted.
  const requests = atOnce * Math.max(1, Math.round((perSecond * roundSeconds) / atOnce))
  const mine: number[] = []
  const plain: number[] = []
  for (let round = 0; round < rounds; round++) {
    mine.push((await logIn(env, { requests }, theirs)).perSecond)
    plain.push(await loop(threads, ours))
  }
  return { mine, plain }
}

/** As many threads as kapis-oauth hashes with. */
async function loop(threads: number, cores: string | undefined): Promise<number> {
  const script = [join(import.meta.dirname, 'bcrypt-loop.ts'), String(roundSeconds), String(threads)]
  const command = [...(cores === undefined ? [] : ['taskset', '-c', cores]), process.execPath, ...script]
  const { stdout } = await run(command[0] ?? '', command.slice(1))
  return Number(stdout)
}

function toRange(from: number, until: number): string {
  return `${from}-${until - 1}`
}
