import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toKubeconfig } from '../../hack/controlplane/pki.ts'
import { createPortFinder } from '../../hack/controlplane/processes/ports.ts'
import { scratch } from '../e2e/run.ts'
import { compiledPrograms } from './compiled-programs.ts'
import { type Cluster, hostAddress } from './control-plane.ts'
import { createEndpoint } from './endpoint.ts'
import { get } from './get.ts'

/** A replica: the containers of the Deployment as local processes, with an endpoint. */
export type Pod = {
  readonly name: string
  /** URL of its kapis-apiserver. */
  readonly url: string
  readonly pids: ReadonlyMap<string, number>
  readonly log: (container: string) => string
  /** Time from the start of the first process to the first 200 of /readyz. */
  readonly readyMs: number
  /**
   * Stops the Pod like the kubelet: removes the endpoint, sends SIGTERM to kapis-apiserver, and to
   * the sidecar after kapis-apiserver has ended.
   */
  readonly stop: () => Promise<readonly (number | null)[]>
}

type Container = {
  readonly name: string
  readonly command: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  readonly restartPolicy?: string
}
type Deployment = {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string
        readonly containers: readonly Container[]
        readonly initContainers: readonly Container[]
        readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[]
      }
    }
  }
}

const readyWithinMs = 120_000
const probeEveryMs = 250
/** terminationGracePeriodSeconds of the Deployment, in milliseconds. */
const graceMs = 90_000

// Kills processes that a failed or aborted test has left, when the test run ends.
const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/**
 * Runs the Pod of the Deployment: its commands, environment and configuration, with the permissions
 * of its ServiceAccount. Only locations differ: compiled programs replace the image, local folders
 * its volumes, a free port that of the container, and a kubeconfig the mounted token.
 *
 * @throws Error if it does not become ready; all its processes have then been stopped
 */
export async function startPod(
  cluster: Cluster,
  options: {
    readonly name: string
    readonly namespace: string
    readonly env?: Readonly<Record<string, string>>
    /** Folder with the programs of another version. */
    readonly programs?: string
  },
): Promise<Pod> {
  const { name, namespace } = options
  const { spec } = await deploymentOf(cluster, namespace)
  const pod = spec.template.spec
  const root = join(scratch, name)
  const programs = options.programs ?? (await compiledPrograms())
  const place = (path: string) =>
    path.replace(/^\/(?=etc\/|run\/|var\/)/, `${root}/`).replace(/^\/kapis(?=\/)/, programs)
  for (const folder of ['/etc/kapis', '/run/kapis']) mkdirSync(place(folder), { recursive: true })
  for (const { configMap } of pod.volumes) {
    if (configMap)
      await writeConfig(cluster, { namespace, name: configMap.name, folder: place('/etc/kapis') })
  }
  const kubeconfig = join(root, 'kubeconfig')
  const token = await cluster.output(['-n', namespace, 'create', 'token', pod.serviceAccountName])
  const ca = join(cluster.runDir, 'pki/ca.crt')
  writeFileSync(kubeconfig, toKubeconfig(cluster.env.KUBE_URL ?? '', ca, { token: token.trim() }))
  const ports = createPortFinder()
  const port = await ports.any()
  const env = {
    PATH: process.env.PATH ?? '',
    KAPIS_KUBECONFIG: kubeconfig,
    KAPIS_LISTEN_PORT: String(port),
    KAPIS_OAUTH_SOCKET: place('/run/kapis/oauth.sock'),
    KAPIS_LOGS_EMBEDDED_FOLDER: place('/var/lib/kapis/logs'),
    ...options.env,
  }
  const startedAt = performance.now()
  const children = [...pod.initContainers, ...pod.containers].map(
    container => [container.name, launch(container, env, place)] as const,
  )
  const url = `https://${hostAddress()}:${port}`
  const endpoint = createEndpoint(cluster, { name, namespace, port })
  const front = children.at(-1)?.[1]
  const log = (container: string) => readFileSync(place(`/run/kapis/${container}.log`), 'utf8')
  let readiness: ReturnType<typeof follow> | undefined
  const stop = async () => {
    readiness?.stop()
    // The error is ignored: the namespace may already have been deleted.
    await endpoint.set(false).catch(() => undefined)
    const codes: (number | null)[] = []
    for (const [, child] of children.toReversed()) codes.push(await end(child))
    ports.release()
    await endpoint.remove().catch(() => undefined)
    return codes
  }
  try {
    await endpoint.set(false)
    readiness = follow(url, endpoint.set)
    const readyMs = await Promise.race([
      readiness.first.then(at => at - startedAt),
      sleep(readyWithinMs, undefined, { ref: false }).then(() => undefined),
      front === undefined ? undefined : once(front, 'exit').then(() => undefined),
    ])
    if (readyMs === undefined) throw new Error(`${name} is not ready:\n${log('apiserver')}`)
    const pids = new Map(children.map(([container, { pid = 0 }]) => [container, pid]))
    return { name, url, pids, log, readyMs, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function deploymentOf(cluster: Cluster, namespace: string): Promise<Deployment> {
  return JSON.parse(await cluster.output(['-n', namespace, 'get', 'deployment', 'kapis', '-o', 'json']))
}

async function writeConfig(
  cluster: Cluster,
  o: { namespace: string; name: string; folder: string },
): Promise<void> {
  const text = await cluster.output(['-n', o.namespace, 'get', 'configmap', o.name, '-o', 'json'])
  const { data }: { data: Record<string, string> } = JSON.parse(text)
  for (const [file, content] of Object.entries(data)) writeFileSync(join(o.folder, file), content)
}

function launch(
  { name, command, env = [] }: Container,
  ours: Readonly<Record<string, string>>,
  place: (path: string) => string,
): ChildProcess {
  const [program = '', ...args] = command.map(place)
  const log = openSync(place(`/run/kapis/${name}.log`), 'a')
  const given = Object.fromEntries(env.map(entry => [entry.name, entry.value]))
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    env: { ...given, ...ours },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  living.add(child)
  child.once('exit', () => living.delete(child))
  return child
}

async function end(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await exited
  clearTimeout(timer)
  return child.exitCode
}

function follow(url: string, set: (ready: boolean) => Promise<void>) {
  const { promise: first, resolve } = Promise.withResolvers<number>()
  let isStopped = false
  let isReady = false
  void (async () => {
    while (!isStopped) {
      const code = await get(`${url}/readyz`).then(
        response => response.code,
        () => 0,
      )
      const now = code === 200
      const at = performance.now()
      if (now !== isReady && !isStopped) await set(now)
      if (now) resolve(at)
      isReady = now
      await sleep(isReady ? probeEveryMs : 20)
    }
  })().catch(() => undefined)
  return {
    first,
    stop: () => {
      isStopped = true
    },
  }
}
