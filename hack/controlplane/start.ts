import type { ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createKubeClient, type KubeClient } from '../../pkg/kubeclient/client.ts'
import { loadRestConfig } from '../../pkg/kubeclient/config/rest-config.ts'
import { applyManifests } from '../manifests.ts'
import { ensureBinaries } from './binaries/binaries.ts'
import {
  controllerManager,
  etcd,
  kapisComponent,
  kubeApiserver,
  kwok,
  logShipper,
  opensearch,
  type Ports,
} from './components.ts'
import { createFakeIssuer } from './fake-issuer.ts'
import {
  createKapisObjects,
  createLogShipper,
  readInitialUser,
  waitAvailable,
  writeKapisKubeconfig,
} from './kapis-objects.ts'
import { createPki } from './pki.ts'
import { createSocketPath, issuerUrl, writeFiles } from './prepare.ts'
import { launch } from './processes/launch.ts'
import type { createPortFinder } from './processes/ports.ts'
import type { Component, ProcessRecords } from './processes/records.ts'
import { waitReady } from './processes/wait-ready.ts'
import { createRetryingClient } from './retrying-client.ts'
import { createSamples, waitRunning } from './samples/samples.ts'
import { namespace, type Settings } from './settings.ts'

export type Start = {
  readonly settings: Settings
  readonly records: ProcessRecords
  readonly portFinder: ReturnType<typeof createPortFinder>
  readonly say: (line: string) => void
  readonly signal: AbortSignal
  /** Called for every started process. */
  readonly started: (part: Component, child: ChildProcess) => void
}

/** Starts everything in order of dependencies, and writes the env file when all programs are ready. */
export async function start(o: Start): Promise<void> {
  const { settings, records, say, signal } = o
  const binaries = await ensureBinaries({ say, signal })
  signal.throwIfAborted()
  mkdirSync(settings.logsDir, { recursive: true })
  const ports = await choosePorts(o)
  const pki = createPki(join(settings.runDir, 'pki'))
  const socket = createSocketPath(settings)
  writeFiles(settings, ports, pki, socket)

  const run = async (part: Component) => {
    signal.throwIfAborted()
    const { child, id } = await launch(part, records)
    o.started(part, child)
    await waitReady(part, id, signal)
    say(`${part.name} is ready`)
  }
  const plan = { settings, binaries, ports, pki }
  await run(etcd(plan))
  const standIn = await createFakeIssuer(pki, issuerUrl(ports), ports.kapis)
  try {
    await run(kubeApiserver(plan))
    await standIn.asked
  } finally {
    standIn.close()
  }
  const kubeconfig = join(settings.runDir, 'admin.kubeconfig')
  const client = createRetryingClient(createKubeClient(loadRestConfig(kubeconfig)))
  try {
    const engine = settings.logStore === 'opensearch' ? opensearch(plan, say).then(run) : undefined
    await Promise.all([run(controllerManager(plan)), run(kwok(plan)), engine])
    if (!settings.onlyControlPlane) {
      await applyManifests(binaries.kubectl, kubeconfig, settings.groupDomain)
      await createKapisObjects(client, pki)
    }
    await createSamples(client, settings, ports.kwok, say)
    if (!settings.onlyControlPlane) {
      await writeKapisKubeconfig(client, settings, `https://127.0.0.1:${ports.kubeApiserver}`, pki)
      const readinessUrl = `https://127.0.0.1:${ports.kapis}/readyz`
      await run(kapisComponent(settings, 'oauth', { socket, path: '/healthz' }))
      await run(
        kapisComponent(settings, 'apiserver', { url: readinessUrl, caFile: join(settings.runDir, 'ca.crt') }),
      )
      await waitAvailable(client, settings.groupDomain, signal)
      say(`the aggregated API v1alpha3.resources.${settings.groupDomain} is available`)
    }
    await waitRunning(client, signal)
    if (!settings.onlyControlPlane && settings.logStore !== 'none')
      await run(logShipper(settings, ports, await createLogShipper(client)))
    await writeEnv(o, client, ports, dirname(binaries.kubectl))
  } finally {
    client.close()
  }
}

async function choosePorts({ settings, portFinder, say }: Start): Promise<Ports> {
  const kapis = await portFinder.near(settings.port)
  if (kapis !== settings.port) say(`port ${settings.port} is taken: using ${kapis}`)
  return {
    kapis,
    etcd: await portFinder.any(),
    etcdPeer: await portFinder.any(),
    kubeApiserver: await portFinder.any(),
    controllerManager: await portFinder.any(),
    kwok: await portFinder.any(),
    opensearch: await portFinder.any(),
  }
}

async function writeEnv({ settings, records }: Start, client: KubeClient, ports: Ports, bin: string) {
  const { user, password } = settings.onlyControlPlane
    ? { user: '', password: '' }
    : await readInitialUser(client)
  records.writeEnv(
    {
      KUBECONFIG: join(settings.runDir, 'admin.kubeconfig'),
      KUBE_URL: `https://127.0.0.1:${ports.kubeApiserver}`,
      KUBE_CA: join(settings.runDir, 'pki/ca.crt'),
      KAPIS_URL: `https://127.0.0.1:${ports.kapis}`,
      KAPIS_CA: join(settings.runDir, 'ca.crt'),
      KAPIS_GROUP_DOMAIN: settings.groupDomain,
      KAPIS_USER: user,
      KAPIS_PASSWORD: password,
      KAPIS_CLIENT_ID: 'kapis',
      KAPIS_CLIENT_SECRET: 'kapis',
      KAPIS_PIDS: records.pidList(),
      KAPIS_LOGS_DIR: settings.logsDir,
      KAPIS_NAMESPACE: namespace,
      ...(settings.logStore === 'opensearch'
        ? { OPENSEARCH_URL: `http://127.0.0.1:${ports.opensearch}` }
        : {}),
      // kubectl caches discovery by address, but another server may have used this port before.
      KUBECACHEDIR: join(settings.runDir, 'kube-cache'),
    },
    bin,
  )
}
