import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createAdminToken } from '../controlplane/admin-token.ts'
import { createProcessRecords } from '../controlplane/processes/records.ts'
import { repository } from '../controlplane/settings.ts'
import { buildLoadClient } from './load.ts'

/** Addresses and credentials of the running programs, for benchmarks. */
export type BenchEnv = {
  readonly runDir: string
  readonly hey: string
  readonly groupDomain: string
  readonly kapisUrl: string
  readonly kapisToken: string
  readonly kubeUrl: string
  readonly kubeToken: string
  readonly namespace: string
  /** User name of the administrator, and the login form with its credentials. */
  readonly user: string
  readonly loginForm: string
  readonly pids: ReadonlyMap<string, number>
  /** URL of the real OpenSearch, if it is the log store. */
  readonly openSearchUrl: string
}

export type Cluster = { readonly env: BenchEnv; readonly stop: () => void }

/**
 * Starts a control plane with Kapis, like `make up`. From then on this process trusts its CAs.
 *
 * @param settings environment variables for the control plane; RUN_DIR is required
 */
export async function startCluster(
  settings: NodeJS.ProcessEnv & { readonly RUN_DIR: string },
): Promise<Cluster> {
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
  const env = createProcessRecords(runDir).readEnv() ?? {}
  const get = (name: string) => env[name] ?? ''
  const cas = [get('KAPIS_CA'), get('KUBE_CA')].map(file => readFileSync(file, 'utf8'))
  setDefaultCACertificates([...getCACertificates('default'), ...cas])
  const login = new URLSearchParams({
    grant_type: 'password',
    username: get('KAPIS_USER'),
    password: get('KAPIS_PASSWORD'),
    client_id: get('KAPIS_CLIENT_ID'),
    client_secret: get('KAPIS_CLIENT_SECRET'),
  })
  return {
    runDir,
    hey: await buildLoadClient(join(runDir, 'hey')),
    groupDomain: get('KAPIS_GROUP_DOMAIN'),
    kapisUrl: get('KAPIS_URL'),
    kapisToken: await requestToken(get('KAPIS_URL'), login),
    kubeUrl: get('KUBE_URL'),
    kubeToken: createAdminToken('kubectl', { ...process.env, ...env }),
    namespace: get('KAPIS_NAMESPACE'),
    user: get('KAPIS_USER'),
    loginForm: String(login),
    openSearchUrl: get('OPENSEARCH_URL'),
    pids: new Map(
      get('KAPIS_PIDS')
        .split(' ')
        .map(pair => [pair.split('=')[0] ?? '', Number(pair.split('=')[1])]),
    ),
  }
}

export async function requestToken(kapisUrl: string, body: URLSearchParams): Promise<string> {
  const response = await fetch(`${kapisUrl}/oauth/token`, { method: 'POST', body })
  const text = await response.text()
  if (response.ok) return String(JSON.parse(text).access_token)
  throw new Error(`the token request failed with ${response.status}: ${text}`)
}
