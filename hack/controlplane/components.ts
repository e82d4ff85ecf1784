import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSearchCommand } from '../opensearch/command.ts'
import type { Binaries } from './binaries/binaries.ts'
import type { Pki } from './pki.ts'
import type { Component, ComponentName, Probe } from './processes/records.ts'
import { childEnvironment, repository, type Settings } from './settings.ts'

export type Ports = {
  readonly etcd: number
  readonly etcdPeer: number
  readonly kubeApiserver: number
  readonly controllerManager: number
  readonly kwok: number
  readonly kapis: number
  readonly opensearch: number
}

type Plan = {
  readonly settings: Settings
  readonly binaries: Binaries
  readonly ports: Ports
  readonly pki: Pki
}

export function etcd({ settings, binaries, ports }: Plan): Component {
  const client = `http://127.0.0.1:${ports.etcd}`
  const peer = `http://127.0.0.1:${ports.etcdPeer}`
  return part(
    settings,
    'etcd',
    binaries.etcd,
    { url: `${client}/readyz` },
    {
      'data-dir': join(settings.runDir, 'etcd'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
      // The data is temporary, and writes without fsync are several times faster.
      'unsafe-no-fsync': 'true',
      'quota-backend-bytes': String(4 * 1024 ** 3),
      'log-level': 'warn',
    },
  )
}

export function kubeApiserver({ settings, binaries, ports, pki }: Plan): Component {
  const probe = { url: `https://127.0.0.1:${ports.kubeApiserver}/readyz`, caFile: pki.file('ca.crt') }
  return part(settings, 'kube-apiserver', binaries['kube-apiserver'], probe, {
    'etcd-servers': `http://127.0.0.1:${ports.etcd}`,
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    // Endpoints cannot be loopback addresses, and no program here uses the endpoints of the
    // `kubernetes` Service.
    'endpoint-reconciler-type': 'none',
    // Endpoints are used if Kapis is installed in the cluster, since the cluster IP of its Service
    // is not routed here. Otherwise its Service is an external name, which kube-apiserver ignores
    // if it uses endpoints.
    'enable-aggregator-routing': String(settings.onlyControlPlane),
    'secure-port': String(ports.kubeApiserver),
    'tls-cert-file': pki.file('serving.crt'),
    'tls-private-key-file': pki.file('serving.key'),
    'client-ca-file': pki.file('ca.crt'),
    'authorization-mode': 'Node,RBAC',
    'authentication-config': join(settings.runDir, 'authentication.yaml'),
    'service-cluster-ip-range': '10.96.0.0/16',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': pki.file('service-accounts.pub'),
    'service-account-signing-key-file': pki.file('service-accounts.key'),
    'requestheader-client-ca-file': pki.file('front-proxy-ca.crt'),
    'requestheader-allowed-names': 'front-proxy-client',
    'requestheader-username-headers': 'X-Remote-User',
    'requestheader-uid-headers': 'X-Remote-Uid',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'proxy-client-cert-file': pki.file('front-proxy-client.crt'),
    'proxy-client-key-file': pki.file('front-proxy-client.key'),
    'kubelet-certificate-authority': pki.file('ca.crt'),
    // Sample nodes have individual addresses, but all are reached at this address.
    'kubelet-preferred-address-types': 'InternalDNS,InternalIP,Hostname',
  })
}

/** Controllers without use for samples, or that would taint nodes; each has its own caches. */
const controllersOff = [
  'node-lifecycle-controller',
  'node-ipam-controller',
  'ttl-controller',
  'taint-eviction-controller',
  'persistentvolume-attach-detach-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-expander-controller',
  'ephemeral-volume-controller',
  'resourceclaim-controller',
  'storage-version-migrator-controller',
]

export function controllerManager({ settings, binaries, ports, pki }: Plan): Component {
  const kubeconfig = join(settings.runDir, 'controller-manager.kubeconfig')
  const probe = { url: `https://127.0.0.1:${ports.controllerManager}/healthz`, caFile: pki.file('ca.crt') }
  return part(settings, 'kube-controller-manager', binaries['kube-controller-manager'], probe, {
    kubeconfig,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'bind-address': '127.0.0.1',
    'secure-port': String(ports.controllerManager),
    'tls-cert-file': pki.file('serving.crt'),
    'tls-private-key-file': pki.file('serving.key'),
    'leader-elect': 'false',
    'use-service-account-credentials': 'true',
    'service-account-private-key-file': pki.file('service-accounts.key'),
    'root-ca-file': pki.file('ca.crt'),
    'cluster-signing-cert-file': pki.file('ca.crt'),
    'cluster-signing-key-file': pki.file('ca.key'),
    controllers: ['*', ...controllersOff.map(name => `-${name}`)].join(','),
  })
}

export function kwok({ settings, binaries, ports, pki }: Plan): Component {
  const probe = { url: `https://127.0.0.1:${ports.kwok}/healthz`, caFile: pki.file('ca.crt') }
  return part(settings, 'kwok', binaries.kwok, probe, {
    kubeconfig: join(settings.runDir, 'admin.kubeconfig'),
    config: join(settings.runDir, 'kwok.yaml'),
    'server-address': `127.0.0.1:${ports.kwok}`,
    'node-ip': '127.0.0.1',
    'node-port': String(ports.kwok),
    'tls-cert-file': pki.file('serving.crt'),
    'tls-private-key-file': pki.file('serving.key'),
  })
}

/** Returns the search engine for logs, if requested. */
export async function opensearch(
  { settings, ports }: Pick<Plan, 'settings' | 'ports'>,
  say: (line: string) => void,
): Promise<Component> {
  const where = { folder: join(settings.runDir, 'opensearch'), port: ports.opensearch }
  const { command, args } = await openSearchCommand(where, say)
  const probe = { url: `http://127.0.0.1:${ports.opensearch}/_cluster/health` }
  return { ...part(settings, 'opensearch', command, probe, {}), args }
}

/** Returns one of the two programs of Kapis; both read the same configuration file. */
export function kapisComponent(settings: Settings, name: 'oauth' | 'apiserver', probe: Probe): Component {
  const { env, ...rest } = part(settings, name, process.execPath, probe, {})
  const program = join(repository, 'cmd', name, 'main.ts')
  return {
    ...rest,
    env: { ...env, ...imageEnvironment() },
    args: [program, '--config', join(settings.runDir, 'kapis.yaml')],
  }
}

/** Returns the environment variables of the image, which limit memory. */
export function imageEnvironment(): Readonly<Record<string, string>> {
  const text = readFileSync(join(repository, 'Dockerfile'), 'utf8').replaceAll(/\\\n/g, ' ')
  const [, words = ''] = /^ENV (.*)$/m.exec(text) ?? []
  const pairs = words.matchAll(/\b((?:MALLOC|NODE)_\w+)=(\S+)/g)
  return Object.fromEntries([...pairs].map(([, name, value]) => [name, value]))
}

/** Returns the program that ships the logs of the others, as the holder of the token. */
export function logShipper(settings: Settings, { kapis }: Ports, token: string): Component {
  const { env, ...rest } = part(settings, 'log-shipper', process.execPath, undefined, {})
  const url = `https://127.0.0.1:${kapis}/kapis/logging.${settings.groupDomain}/v1alpha2/ingest/jsonlines`
  const program = join(import.meta.dirname, 'log-shipper.ts')
  return {
    ...rest,
    env: { ...env, TOKEN: token },
    args: [program, url, join(settings.runDir, 'ca.crt'), settings.logsDir],
  }
}

function part(
  settings: Settings,
  name: ComponentName,
  command: string,
  probe: Probe | undefined,
  flags: Readonly<Record<string, string>>,
): Component {
  return {
    name,
    command,
    args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
    env: childEnvironment(),
    cwd: settings.runDir,
    log: join(settings.logsDir, `${name}.log`),
    ...(probe && { probe }),
    stopped: false,
  }
}
