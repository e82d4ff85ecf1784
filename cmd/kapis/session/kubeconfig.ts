import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { withFileLock } from './file-lock.ts'
import type { Server } from './server.ts'

type Members = Readonly<Record<string, unknown>>

export type ContextSettings = {
  /** Name of the cluster, the user and the context. */
  readonly name: string
  /** What kubectl talks to: the platform itself, or a kube-apiserver that takes its tokens. */
  readonly cluster: Server
  readonly platform: Server
  /** How this program is called. */
  readonly command: readonly [string, ...(readonly string[])]
}

/** The file that kubectl reads: KUBECONFIG's first, otherwise ~/.kube/config. */
export function kubeconfigPath(env: Readonly<Record<string, string | undefined>>): string {
  return env.KUBECONFIG?.split(delimiter).find(Boolean) ?? join(homedir(), '.kube', 'config')
}

/** Adds a context that signs on by `kapis get-token`, and makes it the current one. Everything else stays as it is. */
export async function writeContext(file: string, settings: ContextSettings): Promise<void> {
  await withFileLock(file, () => {
    const config = read(file)
    const { name } = settings
    const next = {
      apiVersion: 'v1',
      kind: 'Config',
      preferences: {},
      ...config,
      clusters: withEntry(config.clusters, name, { cluster: toCluster(settings.cluster) }),
      users: withEntry(config.users, name, { user: { exec: toExec(settings) } }),
      contexts: withEntry(config.contexts, name, { context: { cluster: name, user: name } }),
      'current-context': name,
    }
    mkdirSync(dirname(file), { recursive: true })
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, stringify(next), { mode: 0o600 })
    renameSync(draft, file)
  })
}

function toCluster({ url, caFile }: Server): Members {
  if (caFile === '') return { server: url }
  // In the file itself: it may be taken elsewhere.
  return { server: url, 'certificate-authority-data': readFileSync(caFile).toString('base64') }
}

/** client.authentication.k8s.io/v1 ExecConfig. */
function toExec({ platform, command: [program, ...args] }: ContextSettings): Members {
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: program,
    args: [...args, 'get-token', '--server', platform.url],
    env: null,
    interactiveMode: 'Never',
    provideClusterInfo: false,
    installHint: '`kapis` comes with the platform; `kapis login` begins a login.',
  }
}

function read(file: string): Members {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  const config: unknown = parse(text) ?? {}
  if (typeof config === 'object' && config !== null && !Array.isArray(config))
    return Object.fromEntries(Object.entries(config))
  throw new Error(`${file} is no kubeconfig`)
}

function withEntry(list: unknown, name: string, entry: Members): readonly unknown[] {
  const others = Array.isArray(list) ? list.filter(item => Object(item).name !== name) : []
  return [...others, { name, ...entry }]
}

/** This program, so that kubectl finds it wherever it is called. */
export function ownCommand(): readonly [string, ...(readonly string[])] {
  return [process.execPath, realpathSync(process.argv[1] ?? '')]
}
