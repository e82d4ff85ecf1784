import { fieldsOf, parseList, textOf } from '../../pkg/kubeclient/object/object.ts'
import { forEach } from '../controlplane/for-each.ts'
import { type Call, createApi, until } from './api.ts'
import type { BenchEnv } from './cluster.ts'
import { meanMs, measureByTurns } from './load.ts'
import { residentMb } from './process-stats.ts'
import { judge, median, printHead, report } from './report.ts'

const namespaceCount = 500
const podCount = Number(process.env.BENCH_PODS ?? 10_000)
const callers = { count: 1_000, namespaces: 3, pages: 3 }
// Maximum for all caches of permissions and of joined pages.
const maxGrowthMb = 64
const load = { connections: 4, seconds: 2 }
const measured = { rounds: 5, warmSeconds: 1 }
const place = 'bench-narrowed'
const account = (namespaces: number) => `reads-${namespaces}`
const nameOf = (i: number) => `${place}-${i % namespaceCount}`
const rbac = '/apis/rbac.authorization.k8s.io/v1'

const queries = {
  'newest 10': 'limit=10',
  'page 3 by name': 'sortBy=name&limit=10&page=3',
  'page 2 of a label': 'labelSelector=app%3Da1&limit=10&page=2',
}

/** Compares pages of narrowed lists with those of an administrator, who sees all objects. */
export async function benchNarrowed(env: BenchEnv): Promise<void> {
  const kube = createApi(env.kubeUrl, env.kubeToken)
  await create(kube)
  const pods = `${env.kapisUrl}/kapis/resources.${env.groupDomain}/v1alpha3/pods`
  const chunk = `${env.kapisUrl}/apis/resources.${env.groupDomain}/v1alpha3/pods?limit=100`
  const kapis = createApi(env.kapisUrl, env.kapisToken)
  const listed = await until(podCount, async () =>
    Number(fieldsOf(await kapis('GET', `${pods}?limit=1`)).totalItems),
  )
  if (listed < podCount) throw new Error(`only ${listed} of ${podCount} pods are listed`)

  printHead('administrator')
  const urls: readonly (readonly [name: string, url: string])[] = [
    ...Object.entries(queries).map(([name, query]) => [name, `${pods}?${query}`] as const),
    ['chunk of 100 (extension API)', chunk],
  ]
  for (const [namespaces, atMost] of [
    [50, 1.5],
    [1, 1],
  ] as const) {
    const token = await tokenOf(kube, namespaces)
    await until(1, async () => ((await sees(token, `${pods}?limit=1`)) === namespaces ? 1 : 0))
    for (const [name, url] of urls) {
      // Both use tokens of the same kind.
      const loads = [token, env.kubeToken].map(each => ({ ...load, url, token: each }))
      const [own, theirs] = (await measureByTurns(loads, measured)).map(outcomes =>
        meanMs(load.connections, outcomes),
      )
      report(`${namespaces} of ${namespaceCount}, ${name}, ms`, own ?? [], theirs ?? [], { atMost })
    }
  }
  await benchCallers(env, pods)
}

/** Measures the memory after pages of many callers, each of whom sees other namespaces. */
async function benchCallers(env: BenchEnv, pods: string): Promise<void> {
  const pid = env.pids.get('apiserver') ?? 0
  const firstMs: number[] = []
  const page = async (i: number) => {
    const headers = { authorization: `Bearer ${env.kapisToken}`, 'impersonate-user': `caller-${i}` }
    const since = performance.now()
    const response = await fetch(`${pods}?limit=10`, { headers })
    const text = await response.text()
    if (response.headers.get('kapis-narrowed-namespaces') !== String(callers.namespaces))
      throw new Error(`caller ${i}: status ${response.status}: ${text.slice(0, 300)}`)
    firstMs.push(performance.now() - since)
  }
  await forEach(0, 20, page, 4)
  firstMs.length = 0
  // Computes as many pages for an administrator first, so that memory that V8 keeps for them is not
  // attributed to narrowing.
  const kapis = createApi(env.kapisUrl, env.kapisToken)
  for (let round = 0; round < callers.pages; round++)
    await forEach(0, callers.count, i => kapis('GET', `${pods}?limit=10&name=${round}${i}`), 4)
  const before = residentMb(pid)
  const after: number[] = []
  for (let round = 0; round < callers.pages; round++) {
    await forEach(0, callers.count, page, 4)
    after.push(residentMb(pid))
  }
  const growth = Math.max(...after) - before
  console.log(
    `${callers.count} callers of other namespaces: resident ${before} MB before, ${after.join(', ')} MB after each round, ` +
      `${growth} MB more ${judge(growth, { atMost: maxGrowthMb }, ' MB')}; a page takes ${median(firstMs).toFixed(1)} ms, four at a time`,
  )
}

async function create(kube: Call): Promise<void> {
  const sizes = [50, 1]
  await kube('POST', '/api/v1/namespaces', { metadata: { name: place } })
  for (const size of sizes)
    await kube('POST', `/api/v1/namespaces/${place}/serviceaccounts`, { metadata: { name: account(size) } })
  await kube('POST', `${rbac}/clusterroles`, {
    metadata: { name: place },
    rules: [{ apiGroups: ['', '*'], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
  })
  const readers = Array.from({ length: namespaceCount }, (): object[] => [])
  for (const size of sizes)
    for (let i = 0; i < size; i++)
      readers[i]?.push({ kind: 'ServiceAccount', name: account(size), namespace: place })
  for (let i = 0; i < callers.count; i++)
    for (const step of [0, 1 + (i % 7), 100 + Math.floor(i / 3)])
      readers[(i + step) % namespaceCount]?.push({ kind: 'User', name: `caller-${i}` })
  await forEach(0, namespaceCount, async i => {
    await kube('POST', '/api/v1/namespaces', { metadata: { name: nameOf(i) } })
    await kube('POST', `${rbac}/namespaces/${nameOf(i)}/rolebindings`, {
      metadata: { name: 'reads' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: place },
      subjects: (readers[i] ?? []).map(each =>
        'namespace' in each ? each : { ...each, apiGroup: 'rbac.authorization.k8s.io' },
      ),
    })
  })
  // A pod needs the default service account of its namespace, which a controller creates.
  const accounts = '/api/v1/serviceaccounts?fieldSelector=metadata.name%3Ddefault'
  await until(namespaceCount, async () => parseList(await kube('GET', accounts)).items.length)
  await forEach(0, podCount, i =>
    kube('POST', `/api/v1/namespaces/${nameOf(i)}/pods`, {
      metadata: { name: `pod-${i}`, labels: { app: `a${Math.floor(i / namespaceCount) % 4}` } },
      spec: {
        schedulingGates: [{ name: 'kapis.io/bench' }],
        containers: [{ name: 'main', image: 'example.org/app' }],
      },
    }),
  )
}

async function tokenOf(kube: Call, namespaces: number): Promise<string> {
  const path = `/api/v1/namespaces/${place}/serviceaccounts/${account(namespaces)}/token`
  const response = fieldsOf(await kube('POST', path, { spec: { expirationSeconds: 3600 } }))
  return textOf(fieldsOf(response.status).token)
}

/** Returns the number of namespaces that a narrowed list covers. */
async function sees(token: string, url: string): Promise<number> {
  const { headers } = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  return Number(headers.get('kapis-narrowed-namespaces'))
}
