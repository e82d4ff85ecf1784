import { execFileSync, spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import type { BenchEnv } from './env.ts'
import { buildLoadClient } from './load.ts'
import { postForm } from './post-form.ts'

export const repository = resolve(import.meta.dirname, '../..')

export type Plane = { readonly env: BenchEnv; readonly stop: () => void }

/**
 * A control plane with Kapis, as `make up` starts it.
 *
 * @param settings its environment; RUN_DIR is required
 */
export async function startPlane(settings: NodeJS.ProcessEnv & { readonly RUN_DIR: string }): Promise<Plane> {
  const launcher = (script: string) =>
    spawnSync(process.execPath, [join(repository, 'hack/controlplane', script)], {
      cwd: repository,
      env: settings,
      stdio: 'inherit',
    })
  if (launcher('up.ts').status !== 0) throw new Error('the control plane did not start')
  const stop = (): void => {
    launcher('down.ts')
  }
  try {
    return { env: await loadEnv(settings.RUN_DIR), stop }
  } catch (error) {
    stop()
    throw error
  }
}

async function loadEnv(runDir: string): Promise<BenchEnv> {
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
    openSearchUrl: get('OPENSEARCH_URL'),
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
