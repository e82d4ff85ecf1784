import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createAdminToken } from '../controlplane/admin-token.ts'
import { createClusters } from '../test/clusters.ts'

/** Addresses and credentials of the running programs, for benchmarks. */
export type BenchEnv = {
  readonly runDir: string
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

const clusters = createClusters()

/**
 * Runs benchmarks with a separate control plane and Kapis. From then on this process trusts their
 * CAs.
 *
 * @param settings environment variables for the control plane; RUN_DIR is required
 */
export function withCluster(
  settings: NodeJS.ProcessEnv & { readonly RUN_DIR: string },
  run: (env: BenchEnv) => Promise<void>,
): Promise<void> {
  return clusters.use(settings, async env => run(await toBenchEnv(env)))
}

async function toBenchEnv(env: Readonly<Record<string, string>>): Promise<BenchEnv> {
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
    runDir: get('RUN_DIR'),
    groupDomain: get('KAPIS_GROUP_DOMAIN'),
    kapisUrl: get('KAPIS_URL'),
    kapisToken: await requestToken(get('KAPIS_URL'), login),
    kubeUrl: get('KUBE_URL'),
    kubeToken: createAdminToken('kubectl', env),
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
