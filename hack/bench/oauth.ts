import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { measure, median, type Outcome } from './load.ts'
import { mintTokens } from './mint-tokens.ts'
import type { BenchEnv } from './run.ts'

const run = promisify(execFile)
const healthSeconds = 10
// Many short rounds by turns: what else the machine does then weighs on both sides alike.
const logins = { rounds: 5, seconds: 6 }
const calls = { rounds: 9, seconds: 2 }
// More than there are cores, so that there is always one to hash next.
const loginsAtOnce = 8
const tokenCount = 1_000
const connections = 16

/** Logins beside what the cores could hash at best, what they do to everybody else, and what many tokens cost. */
export async function benchOAuth(env: BenchEnv): Promise<void> {
  console.log(row(['work', 'figure', 'beside', 'share', 'target']))
  await benchLogins(env)
  await benchHealth(env)
  await benchTokens(env)
}

function login(env: BenchEnv, duration: number): Promise<Outcome> {
  const { kapisUrl, loginForm } = env
  return measure(env.hey, {
    url: `${kapisUrl}/oauth/token`,
    connections: loginsAtOnce,
    seconds: duration,
    gzip: false,
    form: loginForm,
  })
}

async function benchLogins(env: BenchEnv): Promise<void> {
  // Once unmeasured: code is compiled as it is used.
  await login(env, 3)
  const mine: number[] = []
  const plain: number[] = []
  for (let round = 0; round < logins.rounds; round++) {
    mine.push((await login(env, logins.seconds)).perSecond)
    plain.push(await script('bcrypt-loop.ts', [String(logins.seconds)]))
  }
  report('logins /s, beside bcrypt alone', mine, plain, 0.9)
}

async function benchHealth(env: BenchEnv): Promise<void> {
  const url = `${env.kapisUrl}/healthz`
  const underWay = login(env, healthSeconds + 2)
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
  report('calls /s, 1,000 tokens beside one', distinct, single, 0.8)
}

async function script(name: string, args: readonly string[]): Promise<number> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, name), ...args])
  return Number(stdout)
}

/** Shares are of neighbouring rounds, so that what else the machine did weighs on both alike. */
function report(name: string, mine: readonly number[], beside: readonly number[], target: number): void {
  const share = median(mine.map((figure, i) => figure / (beside[i] ?? Number.NaN)))
  const figures = [median(mine).toFixed(1), median(beside).toFixed(1), share.toFixed(2)]
  console.log(row([name, ...figures, verdict(share >= target, `>= ${target}`)]))
}

function verdict(isMet: boolean, target: string): string {
  return `${isMet ? 'met' : 'MISSED'} (${target})`
}

function row(cells: readonly string[]): string {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(36) : cell.padStart(i === 4 ? 20 : 12))).join('')
}
