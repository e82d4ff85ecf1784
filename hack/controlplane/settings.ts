import { join, resolve } from 'node:path'

export const repository = resolve(import.meta.dirname, '../..')
export const namespace = 'kapis-system'

/** The settings from the environment; see `make help`. */
export type Settings = {
  readonly runDir: string
  readonly logsDir: string
  readonly groupDomain: string
  readonly nodes: number
  readonly pods: number
  readonly port: number
  readonly logStore: 'none' | 'embedded' | 'opensearch'
  /** Whether Kapis and its manifests are omitted: the cluster is for tests that install them. */
  readonly onlyControlPlane: boolean
}

/** @throws Error if a value is not a number */
export function loadSettings(env: NodeJS.ProcessEnv): Settings {
  const runDir = resolve(repository, env.RUN_DIR || '.run')
  return Object.freeze({
    runDir,
    logsDir: join(runDir, 'logs'),
    groupDomain: env.KAPIS_GROUP_DOMAIN || 'kapis.io',
    nodes: count(env, 'NODES', 3),
    pods: count(env, 'PODS', 10),
    port: count(env, 'PORT', 9443),
    logStore: logStore(env),
    onlyControlPlane: env.KAPIS_ONLY_CONTROLPLANE === '1',
  })
}

function logStore(env: NodeJS.ProcessEnv): Settings['logStore'] {
  const name = env.LOG_STORE || 'embedded'
  if (name === 'none' || name === 'embedded' || name === 'opensearch') return name
  throw new Error(`LOG_STORE=${name}: must be embedded, opensearch or none`)
}

function count(env: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const text = env[name] || String(fallback)
  if (!/^\d{1,6}$/.test(text)) throw new Error(`${name}=${text}: must be a number`)
  return Number(text)
}

/**
 * Returns the environment of all started processes. It has no proxies, which would intercept
 * loopback connections, and no settings of another control plane from the calling shell.
 */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const unwanted =
    /^(https?_proxy|all_proxy|no_proxy|kubeconfig|kapis_.*|node_options|run_dir|nodes|pods|port|log_store)$/i
  const kept = Object.entries(env).filter(
    ([name]) => /^KAPIS_(LOG_LEVEL|SCREENSHOTS)$/.test(name) || !unwanted.test(name),
  )
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
