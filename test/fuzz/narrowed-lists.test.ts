import { expect } from 'chai'
import { createRandom } from '../../pkg/resourcecache/fixtures.ts'
import { accessToken, group, kubectl, makeNamespace, uniqueName, version } from '../e2e/cluster.ts'
import { eventually, sendAs } from '../e2e/http.ts'
import { output } from '../e2e/run.ts'
import { fuzzSeconds } from './fuzz-parameters.ts'

const prefix = uniqueName('union')
const places = Array.from({ length: 4 }, (_, i) => `${prefix}-${i}`)
const users = Array.from({ length: fuzzSeconds === 0 ? 10 : 100 }, (_, i) => `${prefix}-u${i}`)
const rbac = 'rbac.authorization.k8s.io'
// Time until the authorizer of kube-apiserver has received bindings; denials are cached for a
// second.
const settleMs = 1_500
// A fixed seed in `make test`, and a new one in each run of `make fuzz`.
const below = createRandom(fuzzSeconds === 0 ? 41 : Date.now())

// Namespaced lists are those of kube-apiserver, through the proxy: Kapis caches its own decisions
// for ten seconds, but those of narrowed lists until a binding changes.
const kinds = [
  ['/kapi/v1/configmaps', (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`],
  [`/kapis/${group}/${version}/pods`, (namespace: string) => `/api/v1/namespaces/${namespace}/pods`],
] as const

describe('a narrowed list equals the union of the namespaces’ lists', function () {
  this.timeout(180_000 + fuzzSeconds * 3_000)
  let token = ''

  before(async () => {
    token = await accessToken()
    for (const namespace of places) await makeNamespace(namespace, ['default'])
    const items = places.map(namespace => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `in-${namespace}`, namespace },
      // Pods without a node, since pods of missing nodes are deleted after some seconds.
      spec: { containers: [{ name: 'a', image: 'a' }] },
    }))
    await output('kubectl', ['apply', '-f', '-'], { stdin: list(items) })
    // Waits for the ConfigMap that the controller manager creates in each namespace.
    for (const namespace of places)
      await eventually(
        () => output('kubectl', ['-n', namespace, 'get', 'configmap', 'kube-root-ca.crt']),
        30_000,
      )
  })
  after(() => kubectl('delete', 'namespace', ...places, '--wait=false'))

  it(`for ${users.length} users, while bindings change`, async () => {
    const until = performance.now() + fuzzSeconds * 1_000
    let comparisons = 0
    do {
      await bindAgain()
      await new Promise(resolve => setTimeout(resolve, settleMs))
      const rest = users.values()
      const worker = async () => {
        for (const user of rest) {
          for (const [path, inNamespace] of kinds) await compare(user, path, inNamespace)
          comparisons += kinds.length
        }
      }
      await Promise.all(Array.from({ length: 4 }, worker))
    } while (performance.now() < until)
    console.log(`      ${comparisons} comparisons`)
    expect(comparisons).to.be.at.least(users.length * kinds.length)
  })

  async function compare(user: string, path: string, inNamespace: (namespace: string) => string) {
    const as = { headers: { 'impersonate-user': user } }
    const expected: string[] = []
    let granted = 0
    for (const namespace of places) {
      const { code, body } = await sendAs(token, inNamespace(namespace), as)
      if (code !== 200) continue
      granted++
      expected.push(...namesIn(body))
    }
    const { code, body, headers } = await sendAs(token, path, as)
    const context = `${user} ${path}: ${body.slice(0, 300)}`
    expect(code, context).to.equal(granted === 0 ? 403 : 200)
    if (granted === 0) return
    expect(headers['kapis-narrowed-namespaces'], context).to.equal(String(granted))
    expect(namesIn(body), context).to.have.members(expected)
    expect(JSON.parse(body).totalItems, context).to.equal(expected.length)
    const hidden = places.filter(namespace => !expected.some(name => name.startsWith(`${namespace}/`)))
    for (const namespace of hidden) expect(body, context).to.not.contain(namespace)
  }
})

/** Replaces the binding in each namespace by one of some random users. */
async function bindAgain(): Promise<void> {
  const items = places.map(namespace => ({
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'reads', namespace },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
    subjects: users.filter(() => below(3) === 0).map(name => ({ apiGroup: rbac, kind: 'User', name })),
  }))
  await output('kubectl', ['apply', '-f', '-'], { stdin: list(items) })
}

function list(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}

type Item = { readonly metadata: { readonly name: string; readonly namespace: string } }

function namesIn(body: string): readonly string[] {
  return JSON.parse(body).items.map(({ metadata }: Item) => `${metadata.namespace}/${metadata.name}`)
}
