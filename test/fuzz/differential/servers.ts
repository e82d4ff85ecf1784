import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { createPortFinder } from '../../../hack/controlplane/processes/ports.ts'
import { kubeCa } from '../../e2e/cluster.ts'
import { eventually } from '../../e2e/http.ts'
import { scratch, setting } from '../../e2e/run.ts'
import { pidOf } from '../../faults/process.ts'
import { createRequestSender, type Server } from './request-sender.ts'

export type AuditedServer = Server & { readonly auditLog: string }
export type AuditedServers = {
  readonly kube: AuditedServer
  readonly kapis: AuditedServer
  readonly stop: () => void
}
type Start = (
  command: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => ChildProcess

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{ level: Metadata }]
`
// Startup timeout for a busy machine.
const startMs = 240_000

/** Starts additional replicas of kube-apiserver and Kapis with audit logs, on the same etcd. */
export async function startAudited(): Promise<AuditedServers> {
  const policyFile = join(scratch, 'differential-policy.yaml')
  writeFileSync(policyFile, policy)
  const children: ChildProcess[] = []
  const start: Start = (command, args, env = {}) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    children.push(child)
    return child
  }
  const stop = () => {
    for (const child of children) child.kill('SIGKILL')
  }
  try {
    const [kube, kapis] = await Promise.all([startKube(start, policyFile), startKapis(start, policyFile)])
    return { kube, kapis, stop }
  } catch (error) {
    stop()
    throw error
  }
}

async function startKube(start: Start, policyFile: string): Promise<AuditedServer> {
  const ports = createPortFinder()
  const port = await ports.any()
  const auditLog = join(scratch, 'differential-kube.log')
  const [command = '', ...args] = readFileSync(`/proc/${pidOf('kube-apiserver')}/cmdline`, 'utf8').split('\0')
  const flags = {
    'secure-port': String(port),
    'audit-policy-file': policyFile,
    'audit-log-path': auditLog,
  }
  const kept = args.filter(
    arg => arg !== '' && !Object.keys(flags).some(flag => arg.startsWith(`--${flag}=`)),
  )
  const own = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
  const child = start(command, [...kept, ...own])
  child.stderr?.resume()
  const server = { url: `https://127.0.0.1:${port}`, ca: readFileSync(await kubeCa()) }
  await ready(child, server)
  ports.release()
  return { ...server, auditLog }
}

async function startKapis(start: Start, policyFile: string): Promise<AuditedServer> {
  const program = resolve(import.meta.dirname, '../../../cmd/apiserver/main.ts')
  const config = join(dirname(setting('KUBECONFIG')), 'kapis.yaml')
  const auditLog = join(scratch, 'differential-kapis.log')
  const own = {
    KAPIS_LISTEN_PORT: '0',
    KAPIS_AUDIT_PATH: auditLog,
    KAPIS_AUDIT_POLICY_FILE: policyFile,
    KAPIS_LOGS_STORE: 'none',
    NODE_NO_WARNINGS: '1',
  }
  const child = start(process.execPath, [program, '--config', config], own)
  const port = new Promise<number>(resolve => {
    if (child.stderr === null) return
    createInterface(child.stderr).on('line', line => {
      if (line.includes('"listening"')) resolve(JSON.parse(line).port)
    })
  })
  const server = { url: `https://127.0.0.1:${await port}`, ca: readFileSync(setting('KAPIS_CA')) }
  await ready(child, server)
  return { ...server, auditLog }
}

async function ready(child: ChildProcess, server: Server): Promise<void> {
  const asker = createRequestSender(server)
  const probe = { method: 'GET', target: '/readyz', headers: [], body: '' }
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`)
    const { code } = await asker.send(probe)
    if (code !== 200) throw new Error(`${child.spawnfile} is not ready: ${code}`)
  }, startMs)
  asker.close()
}
