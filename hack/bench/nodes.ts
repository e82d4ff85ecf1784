import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createAuthority, issueCertificate } from '../../pkg/certs/issue.ts'
import type { BenchEnv } from './env.ts'
import { type Load, measure, median } from './load.ts'

type Workload = {
  readonly name: string
  readonly connections: number
  readonly gzip: boolean
  readonly kapis: string
  /** What kube-apiserver offers for the same purpose. */
  readonly native: string
  readonly target: { readonly native: number; readonly static?: number } | undefined
}

const rounds = 3
const seconds = 3

/** Reads of 5,000 nodes, against kube-apiserver's own and against static bytes, interleaved in the same run. */
export async function benchNodes(env: BenchEnv): Promise<void> {
  const workloads = toWorkloads(env.groupDomain)
  const { url: staticUrl, child } = await startStatic(env, workloads)
  try {
    console.log(
      row(['work', 'kapis /s', 'kube-apiserver /s', 'static /s', 'x kube-apiserver', 'x static', 'target']),
    )
    for (const workload of workloads) await benchOne(env, workload, staticUrl)
    for (const [name, pid] of env.pids) {
      if (name === 'apiserver' || name === 'kube-apiserver')
        console.log(`resident memory of ${name}: ${residentMegabytes(pid)} MB`)
    }
  } finally {
    child.kill()
  }
}

async function benchOne(env: BenchEnv, workload: Workload, staticUrl: string): Promise<void> {
  const load = { connections: workload.connections, seconds, gzip: workload.gzip }
  const parties: Readonly<Record<'kapis' | 'native' | 'fixed', Load>> = {
    kapis: { ...load, url: env.kapisUrl + workload.kapis, token: env.kapisToken },
    native: { ...load, url: env.kubeUrl + workload.native, token: env.kubeToken },
    fixed: { ...load, url: staticUrl + staticPath(workload) },
  }
  const ask = async (party: Load) => (await measure(env.hey, party)).perSecond
  // Once unmeasured for each of them: code is compiled as it is used.
  for (const party of Object.values(parties)) await ask(party)
  const figures: { kapis: number; native: number; fixed: number }[] = []
  for (let round = 0; round < rounds; round++) {
    figures.push({
      kapis: await ask(parties.kapis),
      native: await ask(parties.native),
      fixed: await ask(parties.fixed),
    })
  }
  report(workload, figures)
}

/** Ratios are of neighbouring rounds, so that what else the machine did weighs on all alike. */
function report(
  { name, target }: Workload,
  figures: readonly { kapis: number; native: number; fixed: number }[],
): void {
  const toNative = median(figures.map(({ kapis, native }) => kapis / native))
  const toStatic = median(figures.map(({ kapis, fixed }) => kapis / fixed))
  const isMet = target !== undefined && toNative >= target.native && toStatic >= (target.static ?? 0)
  const share = target?.static === undefined ? '' : ` and ${target.static} of static`
  console.log(
    row([
      name,
      median(figures.map(({ kapis }) => kapis)).toFixed(1),
      median(figures.map(({ native }) => native)).toFixed(1),
      median(figures.map(({ fixed }) => fixed)).toFixed(1),
      toNative.toFixed(1),
      toStatic.toFixed(2),
      target === undefined ? '' : `${isMet ? 'met' : 'MISSED'} (>= ${target.native}x${share})`,
    ]),
  )
}

function toWorkloads(groupDomain: string): readonly Workload[] {
  const kapis = `/kapis/resources.${groupDomain}/v1alpha3/nodes`
  const aggregated = `/apis/resources.${groupDomain}/v1alpha3/nodes`
  const selector = 'labelSelector=topology.kubernetes.io%2Fzone%3Dlocal-b'
  return [
    {
      name: 'one node',
      connections: 16,
      gzip: false,
      kapis: `${aggregated}/worker-1`,
      native: '/api/v1/nodes/worker-1',
      target: { native: 3, static: 0.5 },
    },
    {
      name: 'page of 10, newest first',
      connections: 16,
      gzip: false,
      kapis: `${kapis}?limit=10`,
      native: '/api/v1/nodes?limit=10',
      target: { native: 5 },
    },
    {
      name: 'page 3 of 10, by name, selector',
      connections: 16,
      gzip: false,
      kapis: `${kapis}?limit=10&page=3&sortBy=name&ascending=true&${selector}`,
      native: `/api/v1/nodes?limit=10&${selector}`,
      target: { native: 5 },
    },
    {
      name: 'page of 500',
      connections: 4,
      gzip: false,
      kapis: `${aggregated}?limit=500`,
      native: '/api/v1/nodes?limit=500',
      target: undefined,
    },
    {
      name: 'whole list',
      connections: 2,
      gzip: false,
      kapis: aggregated,
      native: '/api/v1/nodes',
      target: undefined,
    },
    {
      name: 'whole list, gzip',
      connections: 2,
      gzip: true,
      kapis: aggregated,
      native: '/api/v1/nodes',
      target: { native: 20 },
    },
  ]
}

/** The static server gives back the very bytes that Kapis answered with. */
async function startStatic(
  env: BenchEnv,
  workloads: readonly Workload[],
): Promise<{ url: string; child: ChildProcess }> {
  const authority = createAuthority({ commonName: 'bench', validityDays: 1 })
  const pair = issueCertificate(authority, {
    commonName: 'bench',
    dnsNames: ['localhost'],
    usages: ['server'],
    validityDays: 1,
  })
  const files: string[] = []
  for (const workload of workloads) {
    const file = join(env.runDir, `static-${files.length}.json`)
    writeFileSync(file, JSON.stringify({ path: staticPath(workload), ...(await fetchRaw(env, workload)) }))
    files.push(file)
  }
  const [cert, key] = [join(env.runDir, 'static.crt'), join(env.runDir, 'static.key')]
  writeFileSync(cert, pair.certPem)
  writeFileSync(key, pair.keyPem, { mode: 0o600 })
  const script = join(import.meta.dirname, 'static-server.ts')
  const child = spawn(process.execPath, [script, cert, key, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) return { url: line, child }
  throw new Error('the static server did not start')
}

function fetchRaw(
  env: BenchEnv,
  workload: Workload,
): Promise<{ headers: Record<string, string>; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${env.kapisToken}`,
      ...(workload.gzip ? { 'accept-encoding': 'gzip' } : {}),
    }
    const ca = readFileSync(env.kapisCa)
    const req = request(env.kapisUrl + workload.kapis, { headers, ca }, async res => {
      const chunks: Buffer[] = []
      for await (const chunk of res) chunks.push(chunk)
      const encoding = res.headers['content-encoding']
      resolve({
        headers: {
          'content-type': 'application/json',
          ...(encoding ? { 'content-encoding': encoding } : {}),
        },
        body: Buffer.concat(chunks).toString('base64'),
      })
    })
    req.on('error', reject)
    req.end()
  })
}

function staticPath(workload: Workload): string {
  return `/${encodeURIComponent(workload.name)}`
}

function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024)
}

function row(cells: readonly string[]): string {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(34) : cell.padStart(18))).join('')
}
