import { execFileSync, spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { benchLists } from './lists.ts'
import { buildLoadClient } from './load.ts'
import { benchNodes } from './nodes.ts'
import { benchOAuth } from './oauth.ts'
import { postForm } from './post-form.ts'
import { benchProxy } from './proxy.ts'

/** What a benchmark needs to know of the running programs. */
export type BenchEnv = {
  readonly runDir: string
  readonly hey: string
  readonly groupDomain: string
  readonly kapisUrl: string
  readonly kapisCa: string
  readonly kapisToken: string
  readonly kubeUrl: string
  readonly kubeToken: string
  readonly kubeconfig: string
  readonly namespace: string
  /** The administrator, and the form of a login as him. */
  readonly user: string
  readonly loginForm: string
  readonly pids: ReadonlyMap<string, number>
}

const benchmarks: Readonly<Record<string, (env: BenchEnv) => Promise<void>>> = {
  nodes: benchNodes,
  proxy: benchProxy,
  oauth: benchOAuth,
  lists: benchLists,
}

const root = resolve(import.meta.dirname, '../..')
const runDir = join(root, process.env.RUN_DIR ?? '.run-bench')

async function main(): Promise<void> {
  const only = (process.env.ONLY ?? '').split(',').filter(Boolean)
  const unknown = only.filter(name => benchmarks[name] === undefined)
  if (unknown.length > 0)
    throw new Error(`no benchmark ${unknown.join(', ')}; there are ${Object.keys(benchmarks).join(', ')}`)
  const settings = { NODES: '5000', PODS: '1000', ...process.env, RUN_DIR: runDir }
  const launcher = (script: string) =>
    spawnSync(process.execPath, [join(root, 'hack/controlplane', script)], {
      cwd: root,
      env: settings,
      stdio: 'inherit',
    })
  if (launcher('up.ts').status !== 0) throw new Error('the control plane did not start')
  try {
    const env = await loadEnv()
    for (const [name, run] of Object.entries(benchmarks)) {
      if (only.length > 0 && !only.includes(name)) continue
      console.log(`\n== ${name}`)
      await run(env)
    }
  } finally {
    launcher('down.ts')
  }
}

async function loadEnv(): Promise<BenchEnv> {
  const env = readEnvFile(join(runDir, 'env'))
  const get = (name: string) => env.get(name) ?? ''
  return {
    runDir,
    hey: await buildLoadClient(import.meta.dirname, join(runDir, 'hey')),
    groupDomain: get('KAPIS_GROUP_DOMAIN'),
    kapisUrl: get('KAPIS_URL'),
    kapisCa: get('KAPIS_CA'),
    kapisToken: await login(get),
    kubeUrl: get('KUBE_URL'),
    kubeToken: createKubeToken(get),
    kubeconfig: get('KUBECONFIG'),
    namespace: get('KAPIS_NAMESPACE'),
    user: get('KAPIS_USER'),
    loginForm: String(new URLSearchParams(toLoginForm(get))),
    pids: new Map(
      get('KAPIS_PIDS')
        .split(' ')
        .map(pair => [pair.split('=')[0] ?? '', Number(pair.split('=')[1])]),
    ),
  }
}

/** `source` in a shell is the one reading of the file that cannot be wrong. */
function readEnvFile(file: string): ReadonlyMap<string, string> {
  const text = execFileSync('bash', ['-c', `set -a; . "${file}"; env -0`], { encoding: 'utf8' })
  return new Map(
    text
      .split('\0')
      .filter(Boolean)
      .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

function toLoginForm(get: (name: string) => string): Readonly<Record<string, string>> {
  return {
    grant_type: 'password',
    username: get('KAPIS_USER'),
    password: get('KAPIS_PASSWORD'),
    client_id: get('KAPIS_CLIENT_ID'),
    client_secret: get('KAPIS_CLIENT_SECRET'),
  }
}

async function login(get: (name: string) => string): Promise<string> {
  const { code, body } = await postForm(`${get('KAPIS_URL')}/oauth/token`, get('KAPIS_CA'), toLoginForm(get))
  const token: unknown = JSON.parse(body).access_token
  if (typeof token === 'string') return token
  throw new Error(`login answered ${code}: ${body}`)
}

/** A token that kube-apiserver accepts by itself, so that its figures hold no detour to Kapis' issuer. */
function createKubeToken(get: (name: string) => string): string {
  const kubectl = (...args: string[]) =>
    execFileSync('kubectl', ['--kubeconfig', get('KUBECONFIG'), ...args], {
      encoding: 'utf8',
      env: { ...process.env, PATH: get('PATH') },
    }).trim()
  const account = 'system:serviceaccount:default:bench'
  kubectl('create', 'serviceaccount', 'bench')
  kubectl('create', 'clusterrolebinding', 'bench', '--clusterrole=cluster-admin', `--user=${account}`)
  return kubectl('create', 'token', 'bench', '--duration=1h')
}

await main().catch(error => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
