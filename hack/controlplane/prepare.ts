import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ports } from './components.ts'
import { type Pki, toKubeconfig } from './pki.ts'
import { kwokConfig, sampleLog, sampleLogLines } from './samples/kwok-config.ts'
import { namespace, type Settings } from './settings.ts'

/** Names in a run folder that are deleted before the next run. Other files are not touched. */
const ofOneRun = [
  'admin.kubeconfig',
  'authentication.yaml',
  'ca.crt',
  'controller-manager.kubeconfig',
  'env',
  'etcd',
  'kapis-logs',
  'kapis.kubeconfig',
  'kapis.yaml',
  'kwok.yaml',
  'logs',
  'oauth.sock',
  'opensearch',
  'parts.json',
  'pids',
  'pki',
  'sample-pod.log',
  'socket-folder',
]

export function clearRunDir({ runDir }: Settings): void {
  for (const name of ofOneRun) rmSync(join(runDir, name), { recursive: true, force: true })
}

/** Path length in bytes that all systems support for Unix sockets. */
const socketPathBytes = 100

/**
 * Returns the path of the socket of kapis-oauth. If it is in a folder outside the run folder, the
 * folder is recorded for removal (see stop.ts).
 */
export function createSocketPath({ runDir }: Settings): string {
  const path = join(runDir, 'oauth.sock')
  if (Buffer.byteLength(path) <= socketPathBytes) return path
  const folder = mkdtempSync(join(tmpdir(), 'kapis-'))
  writeFileSync(join(runDir, 'socket-folder'), folder)
  return join(folder, 'oauth.sock')
}

/** Writes all files that the programs read at startup. */
export function writeFiles(settings: Settings, ports: Ports, pki: Pki, socket: string): void {
  const { runDir } = settings
  const write = (name: string, text: string) => writeFileSync(join(runDir, name), text, { mode: 0o600 })
  const server = `https://127.0.0.1:${ports.kubeApiserver}`
  const kubeconfig = (name: string) =>
    toKubeconfig(server, pki.file('ca.crt'), {
      certFile: pki.file(`${name}.crt`),
      keyFile: pki.file(`${name}.key`),
    })

  write('ca.crt', pki.kapis.certPem)
  write('admin.kubeconfig', kubeconfig('admin'))
  write('controller-manager.kubeconfig', kubeconfig('controller-manager'))
  write('authentication.yaml', json(authentication(settings, ports, pki)))
  write('kwok.yaml', kwokConfig(settings, ports.kwok))
  writeFileSync(sampleLog(settings), sampleLogLines(new Date()))
  write('kapis.yaml', json(kapisConfig(settings, ports, socket)))
}

export function issuerUrl({ kapis }: Ports): string {
  return `https://localhost:${kapis}/oauth`
}

/** Returns the configuration with which kube-apiserver accepts tokens of Kapis. */
function authentication(settings: Settings, ports: Ports, pki: Pki) {
  return {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [issuer(settings, ports, pki)],
  }
}

function issuer({ groupDomain }: Settings, ports: Ports, pki: Pki) {
  return {
    issuer: { url: issuerUrl(ports), audiences: [groupDomain], certificateAuthority: pki.kapis.certPem },
    claimMappings: {
      username: { claim: 'sub', prefix: '' },
      groups: { claim: 'groups', prefix: '' },
      // An expression, since `claim: uid` would reject tokens of releases without this claim.
      uid: { expression: 'has(claims.uid) ? claims.uid : ""' },
    },
    // Tokens of the issuer are for people, and must not name system users.
    userValidationRules: [
      {
        expression: "!user.username.startsWith('system:')",
        message: 'a user of Kapis must not begin with system:',
      },
      {
        expression: "user.groups.all(group, !group.startsWith('system:'))",
        message: 'a group of Kapis must not begin with system:',
      },
    ],
  }
}

/**
 * Token exchange policies for a client and a User `sample-runner`, which tests and developers create
 * if they need them.
 */
const samplePolicies = [
  {
    name: 'sample-service-account',
    source: 'ServiceAccount',
    subjects: ['system:serviceaccount:default:sample-runner'],
    clients: ['sample-runner'],
    user: 'sample-runner',
    maxSeconds: 600,
  },
  { name: 'sample-user', source: 'User', clients: ['sample-runner'], scope: 'read' },
]

function kapisConfig({ groupDomain, runDir, logStore }: Settings, ports: Ports, socket: string) {
  return {
    groupDomain,
    listen: { address: '127.0.0.1', port: ports.kapis },
    kubernetes: { kubeconfig: join(runDir, 'kapis.kubeconfig'), namespace },
    service: { name: 'kapis', port: ports.kapis },
    tls: { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] },
    oauth: { issuer: issuerUrl(ports), socket, tokenExchange: samplePolicies },
    // Developers send all requests from one address, which must not be locked.
    authentication: { authenticateRateLimiterMaxTriesPerAddress: 1000 },
    logs: {
      store: logStore,
      embedded: { folder: join(runDir, 'kapis-logs') },
      ...(logStore === 'opensearch' ? { opensearch: { url: `http://127.0.0.1:${ports.opensearch}` } } : {}),
    },
    multicluster: { enabled: true },
    shutdownDelaySeconds: 0,
  }
}

/** Formats JSON, which is valid YAML. */
function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
