import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { retry } from '../../../pkg/kubeclient/retry.ts'
import { forEach } from '../../controlplane/for-each.ts'
import { createApi } from '../api.ts'
import { type BenchEnv, requestToken } from '../cluster.ts'
import { type Load, measure } from '../load.ts'
import { judge, printHead, report } from '../report.ts'

const run = promisify(execFile)
// Many short alternating rounds, so that other load on the machine affects both sides equally.
const logins = { rounds: 5, seconds: 6, warmSeconds: 12 }
// More than the cores, so that a hash is always waiting.
const connections = 8
const healthSeconds = 10
const calls = { rounds: 9, requests: 5_000, tokens: 1_000, connections: 16 }

/** Compares logins with the hash rate of the cores, and measures their cost for others. */
export async function benchOAuth(env: BenchEnv): Promise<void> {
  printHead('peer')
  await benchLogins(env)
  await benchHealth(env)
  await benchTokens(env)
}

function toLogins(env: BenchEnv): Omit<Load, 'seconds'> {
  return { url: `${env.kapisUrl}/oauth/token`, connections, form: env.loginForm }
}

/**
 * Measures logins on the same cores as the loop. kube-apiserver and the callers use the other
 * cores, as they would run elsewhere in a cluster.
 */
async function benchLogins(env: BenchEnv): Promise<void> {
  const threads = availableParallelism()
  const half = Math.floor(threads / 2)
  if (half === 0) throw new Error('logins are measured on half of the cores: one is not enough')
  const [ours, others, all] = [`0-${half - 1}`, `${half}-${threads - 1}`, `0-${threads - 1}`]
  const { perSecond } = await measure({ ...toLogins(env), seconds: logins.warmSeconds })
  // A fixed number of logins, like the loop: unfinished work at the end of a duration would cost
  // time without being counted.
  const share = (perSecond * logins.seconds * half) / threads
  const requests = connections * Math.max(1, Math.round(share / connections))
  const [own, plain]: [number[], number[]] = [[], []]
  const isOurs = (name: string) => name === 'oauth' || name === 'apiserver'
  for (const [name, pid] of env.pids) pin(pid, isOurs(name) ? ours : others)
  try {
    for (let round = 0; round < logins.rounds; round++) {
      const load = { ...toLogins(env), seconds: 0, requests, cores: others }
      own.push((await measure(load)).perSecond)
      // The loop uses as many threads as kapis-oauth uses for hashes.
      plain.push(await script(['taskset', '-c', ours], 'bcrypt-loop.ts', logins.seconds, threads))
    }
  } finally {
    for (const [, pid] of env.pids) pin(pid, all)
  }
  report('logins, next to bcrypt on the same cores, /s', own, plain, { atLeast: 0.9 })
}

/** Restricts a process with all its threads to some cores. */
function pin(pid: number, cores: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', cores, String(pid)])
}

async function benchHealth(env: BenchEnv): Promise<void> {
  const underWay = measure({ ...toLogins(env), seconds: healthSeconds + 2 })
  const url = `${env.kapisUrl}/healthz`
  const health = await measure({ url, connections: 2, perSecond: 50, seconds: healthSeconds })
  await underWay
  const verdict = judge(health.p99Ms, { atMost: 50 }, ' ms')
  console.log(`p99 of /healthz while logins saturate: ${health.p99Ms.toFixed(1)} ms ${verdict}`)
}

async function benchTokens(env: BenchEnv): Promise<void> {
  const tokens = await createTokens(env, calls.tokens)
  const [one, many] = [join(env.runDir, 'one-token'), join(env.runDir, 'many-tokens')]
  writeFileSync(one, tokens[0] ?? '', { mode: 0o600 })
  writeFileSync(many, tokens.join('\n'), { mode: 0o600 })
  const url = `${env.kapisUrl}/kapis/resources.${env.groupDomain}/v1alpha3/nodes?limit=10`
  const load = (file: string) => script([], 'token-load.ts', url, file, calls.connections, calls.requests)
  // Warm-up: V8 compiles the code, and each signature is verified and cached.
  await load(many)
  await load(one)
  const [distinct, single]: [number[], number[]] = [[], []]
  for (let round = 0; round < calls.rounds; round++) {
    distinct.push(await load(many))
    single.push(await load(one))
  }
  report('calls with 1,000 tokens, next to one, /s', distinct, single, { atLeast: 0.8 })
}

/** Issues access tokens of the administrator, each with its own session. */
async function createTokens(env: BenchEnv, count: number): Promise<readonly string[]> {
  const { groupDomain, kubeUrl, kubeToken, namespace, user, kapisUrl } = env
  const client = { name: 'bench', secret: 'bench', grantTypes: ['client_credentials'], user }
  await createApi(kubeUrl, kubeToken)('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    metadata: { name: 'bench-client', labels: { [`config.${groupDomain}/type`]: 'oauthclient' } },
    type: `config.${groupDomain}/oauthclient`,
    stringData: { 'configuration.yaml': JSON.stringify(client) },
  })
  const grant = { grant_type: 'client_credentials', client_id: client.name, client_secret: client.secret }
  const ask = () => requestToken(kapisUrl, new URLSearchParams(grant))
  // Until kapis-oauth has loaded the client.
  await retry(ask, { isRetriable: () => true, attempts: 100, delayMs: () => 100 })
  const tokens: string[] = []
  await forEach(0, count, async () => tokens.push(await ask()), connections)
  return tokens
}

/** Runs a script of this folder and returns the number that it prints. */
async function script(
  prefix: readonly string[],
  name: string,
  ...args: readonly (string | number)[]
): Promise<number> {
  const [program = '', ...rest] = [...prefix, process.execPath, join(import.meta.dirname, name), ...args]
  const { stdout } = await run(String(program), rest.map(String))
  return Number(stdout)
}
