import {
  field,
  fields,
  isList,
  type Path,
  type Value,
  type ValueChange,
} from '../../../pkg/yaml/edit/value.ts'
import { bodyOf, entryOf, fileOf, type Kubeconfig, type ListName } from './files.ts'

export type ContextSettings = {
  /** Name of the context, and of its cluster and user. */
  readonly name: string
  /** The server for kubectl, which accepts tokens of the platform. `ca` is PEM or ''. */
  readonly cluster: { readonly url: string; readonly ca: string }
  /** URL of the platform of the login. */
  readonly platform: string
  /** The command with which kubectl starts this program. */
  readonly command: readonly [string, ...(readonly string[])]
  /** The folder of the logins; '' for the default folder. */
  readonly home: string
  /** Whether entries with these names that belong to other servers are replaced. */
  readonly isOverwriting: boolean
}

/** Changes by file path. */
export type Plan = ReadonlyMap<string, readonly ValueChange[]>

const apiVersion = 'client.authentication.k8s.io/v1'

/**
 * Returns the changes for a context that authenticates with `kapis get-token`, each in the file
 * that kubectl would change. In existing entries of Kapis, fields that Kapis does not set are
 * preserved.
 *
 * @throws Error if a name belongs to an entry of another server
 */
export function planContext(config: Kubeconfig, settings: ContextSettings): Plan {
  const { name, cluster, platform, isOverwriting } = settings
  const context = entryOf(config, 'contexts', name)
  const isOwnContext = context !== undefined && isOwn(userOf(config, context), platform)
  const clusterName = (isOwnContext && sameCluster(config, context, cluster.url)) || name
  const isOwnUser = isOwn(entryOf(config, 'users', name), platform)
  const isOwnCluster =
    serverOf(entryOf(config, 'clusters', clusterName)) === cluster.url ||
    (isOwnContext && field(context, 'cluster') === clusterName)
  const own = { contexts: isOwnContext, users: isOwnUser, clusters: isOwnCluster }
  if (!isOverwriting) assertFree(config, settings, own, clusterName)

  const plan = new ChangePlan(config)
  plan.entry('clusters', clusterName, own.clusters, toCluster(settings), clusterChanges(settings))
  plan.entry('users', name, own.users, fields({ exec: toExec(settings) }), execChanges(settings))
  const references = { cluster: clusterName, user: name }
  plan.entry('contexts', name, own.contexts, fields(references), toChanges([], references))
  plan.add(config.defaultFile, { path: ['current-context'], value: name })
  return plan.files
}

/** Returns the change that makes the context of a login current; empty without the context. */
export function planUse(config: Kubeconfig, name: string, platform: string): Plan {
  const plan = new ChangePlan(config)
  const context = entryOf(config, 'contexts', name)
  if (context !== undefined && isOwn(userOf(config, context), platform))
    plan.add(config.defaultFile, { path: ['current-context'], value: name })
  return plan.files
}

/** Returns the changes that remove the context of a login, and its unshared cluster and user. */
export function planRemoval(config: Kubeconfig, name: string, platform: string): Plan {
  const plan = new ChangePlan(config)
  const context = entryOf(config, 'contexts', name)
  if (context === undefined || !isOwn(userOf(config, context), platform)) return plan.files
  const names = config.files.flatMap(({ value }) => entriesOf(value, 'contexts'))
  const others = names.filter(other => field(other, 'name') !== name).map(other => field(other, 'context'))
  plan.remove('contexts', name)
  for (const [list, key] of [
    ['clusters', 'cluster'],
    ['users', 'user'],
  ] as const) {
    const reference = field(context, key)
    const isShared = others.some(other => field(other, key) === reference)
    if (typeof reference === 'string' && !isShared) plan.remove(list, reference)
  }
  for (const { path, value } of config.files)
    if (field(value, 'current-context') === name) plan.add(path, { path: ['current-context'], value: '' })
  return plan.files
}

class ChangePlan {
  readonly files = new Map<string, ValueChange[]>()
  readonly #config: Kubeconfig

  constructor(config: Kubeconfig) {
    this.#config = config
  }

  add(file: string, ...changes: readonly ValueChange[]): void {
    const isNew = this.#config.files.every(({ path, value }) => path !== file || value === null)
    const begun = this.files.get(file) ?? (isNew ? toChanges([], { apiVersion: 'v1', kind: 'Config' }) : [])
    this.files.set(file, [...begun, ...changes])
  }

  /** Changes an entry. A new entry, or an entry of another server, is replaced as a whole. */
  entry(list: ListName, name: string, isOwn: boolean, whole: Value, changes: readonly ValueChange[]): void {
    const file = fileOf(this.#config, list, name)
    const path: Path = [list, { name }, bodyOf[list]]
    const nested = changes.map(change => ({ ...change, path: [...path, ...change.path] }))
    const isChanged = file !== undefined && isOwn
    this.add(file?.path ?? this.#config.defaultFile, ...(isChanged ? nested : [{ path, value: whole }]))
  }

  remove(list: ListName, name: string): void {
    const file = fileOf(this.#config, list, name)
    if (file !== undefined) this.add(file.path, { path: [list, { name }] })
  }
}

type OwnEntries = Readonly<Record<ListName, boolean>>

function assertFree(
  config: Kubeconfig,
  { name }: ContextSettings,
  own: OwnEntries,
  clusterName: string,
): void {
  const context = entryOf(config, 'contexts', name)
  const server = serverOf(entryOf(config, 'clusters', String(field(context, 'cluster'))))
  refuse('contexts', name, context, server === '' ? 'has other settings' : `belongs to ${server}`)
  const cluster = entryOf(config, 'clusters', clusterName)
  refuse('clusters', clusterName, cluster, `belongs to ${serverOf(cluster) || 'another server'}`)
  refuse('users', name, entryOf(config, 'users', name), 'has other credentials')

  function refuse(list: ListName, entry: string, found: Value | undefined, why: string): void {
    if (found === undefined || own[list]) return
    const file = fileOf(config, list, entry)?.path
    throw new Error(
      `${bodyOf[list]} ${JSON.stringify(entry)} in ${file} ${why}: choose another name with --context, or replace it with --overwrite`,
    )
  }
}

/** Reports whether a kubeconfig user gets its token from this program for this server. */
function isOwn(user: Value | undefined, platform: string): boolean {
  const args = field(field(user, 'exec'), 'args')
  if (!isList(args)) return false
  const isPlugin = args.includes('get-token') || args.includes('--exec-credential')
  const at = args.indexOf('--server')
  return isPlugin && at >= 0 && args[at + 1] === platform
}

function userOf(config: Kubeconfig, context: Value): Value | undefined {
  const name = field(context, 'user')
  return typeof name === 'string' ? entryOf(config, 'users', name) : undefined
}

/** Returns the cluster name of an existing context if its cluster has the wanted URL. */
function sameCluster(config: Kubeconfig, context: Value, url: string): string | undefined {
  const name = field(context, 'cluster')
  return typeof name === 'string' && serverOf(entryOf(config, 'clusters', name)) === url ? name : undefined
}

function serverOf(cluster: Value | undefined): string {
  const server = field(cluster, 'server')
  return typeof server === 'string' ? server : ''
}

function entriesOf(value: Value, list: ListName): readonly Value[] {
  const items = field(value, list)
  return isList(items) ? items : []
}

function toCluster({ cluster: { url, ca } }: ContextSettings): Value {
  // The CA is inline, so that the file can be copied to another machine.
  return fields({ server: url, ...(ca === '' ? {} : { 'certificate-authority-data': encode(ca) }) })
}

/** Like `kubectl config set-cluster`: CA data replaces a CA file and insecure-skip-tls-verify. */
function clusterChanges({ cluster: { url, ca } }: ContextSettings): readonly ValueChange[] {
  if (ca === '') return toChanges([], { server: url })
  const superseded = ['certificate-authority', 'insecure-skip-tls-verify']
  return [
    ...toChanges([], { server: url, 'certificate-authority-data': encode(ca) }),
    ...superseded.map(key => ({ path: [key] })),
  ]
}

function toExec(settings: ContextSettings): Value {
  const { home } = settings
  return fields({
    apiVersion,
    command: settings.command[0],
    args: toArgs(settings),
    ...(home === '' ? {} : { env: [fields({ name: 'KAPIS_HOME', value: home })] }),
    interactiveMode: 'Never',
    provideClusterInfo: false,
    installHint: 'the kapis executable was moved or removed: run `kapis login` again.',
  })
}

function execChanges(settings: ContextSettings): readonly ValueChange[] {
  const { command, home } = settings
  const env: Path = ['exec', 'env', { name: 'KAPIS_HOME' }]
  return [
    ...toChanges(['exec'], {
      apiVersion,
      command: command[0],
      args: toArgs(settings),
      interactiveMode: 'Never',
    }),
    home === '' ? { path: env } : { path: [...env, 'value'], value: home },
  ]
}

function toArgs({ command: [, ...args], platform, name }: ContextSettings): readonly string[] {
  return [...args, 'get-token', '--server', platform, '--context', name]
}

function toChanges(path: Path, members: Readonly<Record<string, Value>>): readonly ValueChange[] {
  return Object.entries(members).map(([key, value]) => ({ path: [...path, key], value }))
}

function encode(ca: string): string {
  return Buffer.from(ca).toString('base64')
}
