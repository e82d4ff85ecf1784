import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { BenchEnv } from './env.ts'
import { measure, median } from './load.ts'
import { benchLogins, logIn } from './logins.ts'
import { mintTokens } from './mint-tokens.ts'

const run = promisify(execFile)
const healthSeconds = 10
// Many short rounds by turns: what else the machine does then weighs on both sides alike.
const calls = { rounds: 9, seconds: 2 }
const tokenCount = 1_000
const connections = 16

/** Logins next to what the cores could hash at best, what they do to everybody else, and what many tokens cost. */
export async function benchOAuth(env: BenchEnv): Promise<void> {
  console.log(row(['work', 'figure', 'beside', 'share', 'target']))
  await benchLogins(env, report)
  await benchHealth(env)
  await benchTokens(env)
}

async function benchHealth(env: BenchEnv): Promise<void> {
  const url = `${env.kapisUrl}/healthz`
  const underWay = logIn(env, { seconds: healthSeconds + 2 })
  const health = await measure(env.hey, {
    url,
    connections: 2,
    perSecond: 50,
    seconds: healthSeconds,
    gzip: false,
  })
  await underWay
  const isMet = health.p99Ms < 50
  const figure = `${health.p99Ms.toFixed(1)} ms`
  console.log(row(['p99 of /healthz, logins saturated', figure, '', '', verdict(isMet, '< 50 ms')]))
}

async function benchTokens(env: BenchEnv): Promise<void> {
  const tokens = await mintTokens(env, tokenCount)
  const [one, many] = [join(env.runDir, 'one-token'), join(env.runDir, 'many-tokens')]
  writeFileSync(one, tokens[0] ?? '', { mode: 0o600 })
  writeFileSync(many, tokens.join('\n'), { mode: 0o600 })
  const url = `${env.kapisUrl}/kapis/resources.${env.groupDomain}/v1alpha3/nodes?limit=10`
  const load = (file: string) =>
    script('token-load.ts', [url, env.kapisCa, file, String(connections), String(calls.seconds)])
  // Once unmeasured for both: code is compiled as it is used, and a signature is checked when it is first seen.
  await load(many)
  await load(one)
  const distinct: number[] = []
  const single: number[] = []
  for (let round = 0; round < calls.rounds; round++) {
    distinct.push(await load(many))
    single.push(await load(one))
  }
  report('calls /s, 1,000 tokens next to one', distinct, single, 0.8)
}

async function script(name: string, args: readonly string[]): Promise<number> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, name), ...args])
  return Number(stdout)
}

/** Shares are of neighbouring rounds, so that what else the machine did weighs on both alike. */
function report(name: string, mine: readonly number[], beside: readonly number[], target?: number): void {
  const share = median(mine.map((figure, i) => figure / (beside[i] ?? Number.NaN)))
  const figures = [median(mine).toFixed(1), median(beside).toFixed(1), share.toFixed(2)]
  const judged = target === undefined ? [] : [verdict(share >= target, `>= ${target}`)]
  console.log(row([name, ...figures, ...judged]))
}

function verdict(isMet: boolean, target: string): string {
  return `${isMet ? 'met' : 'MISSED'} (${target})`
}

function row(cells: readonly string[]): string {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(36) : cell.padStart(i === 4 ? 20 : 12))).join('')
}
