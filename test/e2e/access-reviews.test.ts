import { expect } from 'chai'
import {
  group,
  kubectl,
  kubectlOutput,
  makeNamespace,
  tokenOf,
  uniqueName,
  version,
  withToken,
} from './cluster.ts'
import { eventually } from './http.ts'
import { output, run } from './run.ts'

const apiVersion = `${group}/${version}`
const name = uniqueName('reviews')
const namespaces = [`${name}-a`, `${name}-b`]
const [home = '', other = ''] = namespaces
const rbac = 'rbac.authorization.k8s.io/v1'

const users = Array.from({ length: 5 }, (_, i) => `${name}-u${i}`)
const groups = Array.from({ length: 3 }, (_, i) => `${name}-g${i}`)
type Subject = { readonly kind: string; readonly name: string; readonly namespace?: string }
const subjects: readonly Subject[] = [
  ...users.map(user => ({ kind: 'User', name: user })),
  ...groups.map(each => ({ kind: 'Group', name: each })),
  ...namespaces.map(namespace => ({ kind: 'ServiceAccount', name: 'ci', namespace })),
]

const rules: readonly object[] = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
  { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  { apiGroups: ['*'], resources: ['*/scale'], verbs: ['*'] },
  { apiGroups: ['apps'], resources: ['*'], verbs: ['get', 'delete'] },
  { apiGroups: [''], resources: ['pods'], resourceNames: ['web-0'], verbs: ['get', 'delete'] },
  { apiGroups: ['*'], resources: ['*'], verbs: ['delete'] },
  { nonResourceURLs: ['/healthz/*'], verbs: ['get'] },
]

const requests: readonly object[] = [
  ...['', home, other].flatMap(namespace => [
    { resourceAttributes: { verb: 'get', resource: 'pods', namespace } },
    { resourceAttributes: { verb: 'get', resource: 'pods', name: 'web-0', namespace } },
    { resourceAttributes: { verb: 'get', resource: 'pods', subresource: 'log', namespace } },
    { resourceAttributes: { verb: 'delete', group: 'apps', resource: 'deployments', namespace } },
    {
      resourceAttributes: {
        ...{ verb: 'update', group: 'apps', resource: 'deployments', subresource: 'scale' },
        namespace,
      },
    },
  ]),
  { nonResourceAttributes: { verb: 'get', path: '/healthz/etcd' } },
]

describe('access reviews', function () {
  this.timeout(60_000)

  let caller: readonly string[] = []
  const createAll = async (items: readonly object[], outputFormat: string) => {
    const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    return output('kubectl', ['create', '-f', '-', '-o', outputFormat], { stdin })
  }
  /** Returns the status of each review in the given order. */
  const statusesOf = async (reviews: readonly object[]) =>
    (await createAll(reviews, 'jsonpath={.status}{"\\n"}'))
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
  const review = (kind: string, spec: object) => ({ apiVersion, kind, spec })

  before(async () => {
    for (const namespace of namespaces) await makeNamespace(namespace, ['ci'])
    const reference = (kind: string, i: number) => ({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: `${name}-${i}` },
    })
    const bound = (i: number) =>
      subjects
        .filter((_, j) => (i * 7 + j * 5) % 4 === 0)
        .map(subject =>
          subject.kind === 'ServiceAccount' ? subject : { apiGroup: 'rbac.authorization.k8s.io', ...subject },
        )
    const objects = rules.flatMap((rule, i) => [
      { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: `${name}-${i}` }, rules: [rule] },
      ...('nonResourceURLs' in rule
        ? []
        : [
            {
              ...{ apiVersion: rbac, kind: 'Role', metadata: { name: `${name}-${i}`, namespace: other } },
              rules: [rule],
            },
          ]),
      ...[home, other].map((namespace, n) => ({
        ...{ apiVersion: rbac, kind: 'RoleBinding', metadata: { name: `${name}-${i}`, namespace } },
        ...reference(n === 1 && i % 2 === 0 ? 'Role' : 'ClusterRole', i),
        subjects: bound(i + n),
      })),
      ...(i % 3 === 0
        ? [
            {
              ...{ apiVersion: rbac, kind: 'ClusterRoleBinding', metadata: { name: `${name}-${i}` } },
              ...reference('ClusterRole', i),
              subjects: bound(i + 3).slice(0, 1),
            },
          ]
        : []),
    ])
    await createAll(objects, 'name')
    caller = await withToken(await tokenOf(home, 'ci'))
  })

  after(async () => {
    const names = rules.map((_, i) => `${name}-${i}`)
    await kubectl('delete', 'clusterrole', ...names, '--ignore-not-found')
    await kubectl('delete', 'clusterrolebinding', ...names, '--ignore-not-found')
    await kubectl('delete', 'namespace', ...namespaces, '--wait=false')
  })

  it('return the subjects for whom kube-apiserver allows the request', async () => {
    const keyOf = (subject: Subject) => `${subject.kind} ${subject.namespace ?? ''} ${subject.name}`
    const asUser = (subject: Subject) => {
      if (subject.kind === 'Group') return { groups: [subject.name] }
      const { namespace, name: account } = subject
      return { user: namespace === undefined ? account : `system:serviceaccount:${namespace}:${account}` }
    }
    const reviews = requests.flatMap(attributes =>
      subjects.map(subject => ({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { ...attributes, ...asUser(subject) },
      })),
    )
    await eventually(async () => {
      const judged: readonly { allowed: boolean }[] = await statusesOf(reviews)
      const found: readonly { subjects: readonly Subject[]; incomplete: boolean }[] = await statusesOf(
        requests.map(spec => review('WhoCan', spec)),
      )
      let allowed = 0
      for (const [i, attributes] of requests.entries()) {
        const expected = subjects.filter((_, j) => judged[i * subjects.length + j]?.allowed).map(keyOf)
        allowed += expected.length
        const ours = found[i]?.subjects.map(keyOf).filter(key => key.includes(name)) ?? []
        expect(ours.sort(), JSON.stringify(attributes)).to.deep.equal(expected.sort())
        expect(found[i]?.incomplete).to.equal(false)
      }
      expect(allowed)
        .to.be.greaterThan(20)
        .and.lessThan(reviews.length / 2)
    }, 10_000)
  })

  // Validation is disabled: kubectl cannot validate kinds that are only created
  // (SubjectAccessReviews included) without permission to list CRDs.
  it('return to every logged-in user their own permissions, in kubectl', async () => {
    const spec = { resourceAttributes: { verb: 'get', resource: 'pods' } }
    const stdin = JSON.stringify(review('AccessibleNamespaces', spec))
    const text = await output('kubectl', [...caller, 'create', '--validate=false', '-f', '-', '-o', 'yaml'], {
      stdin,
    })
    expect(text)
      .to.match(/^kind: AccessibleNamespaces$/m)
      .and.match(/allNamespaces: (true|false)/)
    const status = JSON.parse(
      await output('kubectl', [...caller, 'create', '--validate=false', '-f', '-', '-o', 'json'], { stdin }),
    ).status
    for (const namespace of namespaces) {
      const { stdout } = await run('kubectl', [...caller, '-n', namespace, 'auth', 'can-i', 'get', 'pods'])
      const isFound = status.allNamespaces || status.namespaces.includes(namespace)
      expect(isFound ? 'yes' : 'no', namespace).to.equal(stdout.trim())
    }
  })

  it('return the permissions of others only to callers who may list roles and bindings', async () => {
    const spec = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: home } }
    const bodies = [review('WhoCan', spec), review('SubjectAccessReport', { user: users[0] })]
    for (const body of bodies) {
      const { code, stderr } = await run('kubectl', [...caller, 'create', '--validate=false', '-f', '-'], {
        stdin: JSON.stringify(body),
      })
      expect(code).to.equal(1)
      expect(stderr).to.include(
        'cannot list resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope',
      )
    }
  })

  it('explain why a request is denied', async () => {
    const attributes = { verb: 'patch', resource: 'pods', namespace: home }
    const [status] = await statusesOf([
      review('ExplainAccess', { user: users[0], resourceAttributes: attributes }),
      review('SubjectAccessReport', { user: users[0] }),
    ])
    expect(status).to.deep.include({
      allowed: false,
      incomplete: false,
      missingRule: { verbs: ['patch'], apiGroups: [''], resources: ['pods'] },
    })
    expect(status.rolesThatAllow).to.deep.include({ kind: 'ClusterRole', name: 'edit' })
  })

  it('reject unknown fields, and methods other than create', async () => {
    const body = review('WhoCan', { resourceAttributes: { verb: 'get', resource: 'pods', nmespace: 'x' } })
    const { code, stderr } = await run('kubectl', ['create', '--validate=false', '-f', '-'], {
      stdin: JSON.stringify(body),
    })
    expect(code).to.equal(1)
    expect(stderr).to.include('unknown field "spec.resourceAttributes.nmespace"')
    const listed = await kubectl('get', `whocans.${group}`)
    expect(listed.stderr).to.include('the server does not allow this method on the requested resource')
    const explained = await kubectlOutput('explain', `whocans.${group}`, '--recursive')
    expect(explained).to.include('resourceAttributes')
  })
})
