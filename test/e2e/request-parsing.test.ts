import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import {
  accessToken,
  kubectl,
  kubectlOutput,
  makeNamespace,
  nodeNames,
  sendToKube,
  tokenOf,
  uniqueName,
} from './cluster.ts'
import { apply, askRaw, eventually, groupDomain, sendAs } from './http.ts'
import { watch } from './watch-client.ts'

const namespace = uniqueName('reading')
const resources = `resources.${groupDomain}`
const rbac = 'rbac.authorization.k8s.io'
const encoded = (name: string) => `fieldSelector=metadata.name%3D${name}`

/**
 * Creates a ClusterRole and binds it to a service account, in its namespace or in the whole
 * cluster.
 */
async function grant(account: string, rules: readonly object[], isClusterWide = false): Promise<void> {
  const name = `${namespace}-${account}${isClusterWide ? '-all' : ''}`
  const metadata = { name, labels: { test: namespace } }
  await apply({ apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules })
  await apply({
    apiVersion: `${rbac}/v1`,
    kind: isClusterWide ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: isClusterWide ? metadata : { ...metadata, namespace },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  })
}

describe('a request that Kapis and kube-apiserver interpret in the same way', function () {
  this.timeout(90_000)
  const reading = ['get', 'list', 'watch']
  const user = uniqueName('reading')
  let named = ''
  let viewer = ''
  let watcher = ''
  let admin = ''
  let node = ''

  before(async () => {
    await makeNamespace(namespace, ['named', 'viewer', 'watcher'])
    for (const name of ['mine', 'other'])
      await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } })
    for (const name of [user, `${user}-other`])
      await apply({
        ...{ apiVersion: `iam.${groupDomain}/v1alpha2`, kind: 'User', metadata: { name } },
        spec: { email: `${name}@example.com` },
      })
    node = (await nodeNames())[0] ?? ''
    await grant('named', [
      { apiGroups: ['', resources], resources: ['secrets'], resourceNames: ['mine'], verbs: reading },
    ])
    await grant(
      'named',
      [
        { apiGroups: [`iam.${groupDomain}`], resources: ['users'], resourceNames: [user], verbs: reading },
        { apiGroups: ['', resources], resources: ['nodes'], resourceNames: [node], verbs: reading },
      ],
      true,
    )
    await grant('viewer', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])
    await grant('watcher', [{ apiGroups: ['*'], resources: ['*', '*/*'], verbs: ['watch'] }], true)
    named = await tokenOf(namespace, 'named')
    viewer = await tokenOf(namespace, 'viewer')
    watcher = await tokenOf(namespace, 'watcher')
    admin = await accessToken()
  })
  after(async () => {
    await kubectl('delete', 'clusterrole,clusterrolebinding', '-l', `test=${namespace}`)
    await kubectl('delete', `users.iam.${groupDomain}`, user, `${user}-other`)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  /** Paths of one object, for a caller with a permission for the name of this object. */
  const surfaces: readonly (readonly [path: () => string, mine: () => string])[] = [
    [() => `/kapi/v1/namespaces/${namespace}/secrets`, () => 'mine'],
    [() => `/kapis/${resources}/v1alpha3/namespaces/${namespace}/secrets`, () => 'mine'],
    [() => '/kapi/v1/nodes', () => node],
    [() => `/kapis/${resources}/v1alpha3/nodes`, () => node],
    [() => `/apis/${resources}/v1alpha3/nodes`, () => node],
    [() => `/kapis/iam.${groupDomain}/v1alpha2/users`, () => user],
  ]
  const at = (path: () => string) => path().replace(namespace, '{namespace}')

  for (const [path, mine] of surfaces) {
    const namesIn = (body: string) =>
      JSON.parse(body).items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)

    it(`returns the only object that its caller may read, at ${at(path)}`, async () => {
      const names = [`${encoded(mine())}`, `%66ieldSelector=metadata.name%3D%3D${mine()}`]
      for (const query of [...names, `${encoded(mine())}%2Cmetadata.name!%3Dx`]) {
        await eventually(async () => {
          const response = await sendAs(named, `${path()}?${query}`)
          expect(response.code, response.body).to.equal(200)
          expect(namesIn(response.body)).to.deep.equal([mine()])
        }, 5_000)
      }
    })

    it(`is rejected with a duplicate parameter, at ${at(path)}`, async () => {
      const first = encoded(mine())
      const queries = [
        ...['fieldSelector=metadata.name%3Dother', 'fieldSelector=', 'fieldSelector', first],
        ...[
          '%66ieldSelector=',
          'fieldSelecto%72=metadata.name%3Dother',
          'FieldSelector=',
          'labelSelector&labelSelector=',
        ],
        ...[
          'watch=false&watch=true',
          'watch=&w%61tch=',
          'resourceVersion=0&resourceVersion=',
          'limit=1&limit=500',
        ],
      ].map(query => `${first}&${query}`)
      const broken = [`${first};x=1`, `${first}&a=%zz`, `${first}&a=%ff`, `a=1;b=2&${first}`, `${first}%&x`]
      for (const query of [...queries, ...broken, `fieldSelector=&${first}`]) {
        for (const prefix of ['', 'watch=true&']) {
          for (const token of [named, admin]) {
            const response = await sendAs(token, `${path()}?${prefix}${query}`)
            expect(response.code, `${prefix}${query}: ${response.body}`).to.equal(400)
            expect(JSON.parse(response.body).message).to.match(
              / is given more than once$|^the query contains /,
            )
          }
        }
      }
    })

    it(`never returns another object, at ${at(path)}`, async () => {
      const name = mine()
      const lists = [
        ...['', '?watch=false', '?limit=1', '?fieldSelector=', `?FieldSelector=metadata.name%3D${name}`],
        ...[
          `metadata.name!%3D${name}`,
          'metadata.name%3D',
          `metadata.name%3D${name}%5C`,
          `xmetadata.name%3D${name}`,
        ],
        ...[`metadata.name%3D${name}%2Cx`, `metadata.name%3D${name}/`, `metadata.namespace%3D${namespace}`],
      ].map(text => (text === '' || text.startsWith('?') ? text : `?fieldSelector=${text}`))
      const more = [`/${name}/status?${encoded(name)}`, `/${name}/x`, `/other`, `/?labelSelector=x`]
      for (const rest of [...lists, ...more, `?labelSelector=metadata.name%3D${name}`]) {
        const response = await sendAs(named, path() + rest)
        expect(response.code, `${rest}: ${response.body}`).to.be.oneOf([400, 403, 404])
      }
      // A selector with two names selects no object.
      const both = `${path()}?${encoded(name)}%2Cmetadata.name%3Dother`
      const response = await sendAs(named, both)
      if (response.code === 200) expect(namesIn(response.body)).to.deep.equal([])
      else expect(response.code).to.equal(403)
    })

    it(`watches only the object for which the watch was authorized, at ${at(path)}`, async () => {
      const root = path().replace(/^(\/(?:kapi\/v1|kapis?\/[^/]+\/[^/]+|apis\/[^/]+\/[^/]+))/, '$1/watch')
      const targets = [
        `${path()}?watch=true&${encoded(mine())}`,
        `${root}/${mine()}`,
        `${root}/${mine()}?watch=true`,
        `${root}/${mine()}?watch=false&labelSelector=`,
      ]
      for (const target of targets) {
        const watched = watch(named, target)
        try {
          await eventually(async () => expect(watched.names().length, target).to.be.above(0), 5_000)
          await sleep(300)
          expect(new Set(watched.events.map(({ object }) => object.metadata.name)), target).to.deep.equal(
            new Set([mine()]),
          )
        } finally {
          watched.stop()
        }
      }
      for (const target of [
        root,
        `${root}?watch=true`,
        `${root}?${encoded(mine())}`,
        `${root}/other?${encoded(mine())}`,
      ]) {
        const response = await sendAs(named, target)
        expect(response.code, target).to.equal(403)
      }
    })
  }

  it('receives no event of other objects in a watch of one object', async () => {
    const watched = watch(named, `/kapi/v1/watch/namespaces/${namespace}/secrets/mine`)
    try {
      await eventually(async () => expect(watched.names()).to.deep.equal(['ADDED mine']), 5_000)
      for (const name of ['other', 'mine'])
        await kubectlOutput('-n', namespace, 'label', 'secret', name, 'touched=true')
      await eventually(
        async () => expect(watched.names()).to.deep.equal(['ADDED mine', 'MODIFIED mine']),
        5_000,
      )
    } finally {
      watched.stop()
    }
  })

  it('lets a kubelet read the pods and Secrets of its own node', async () => {
    const pod = { containers: [{ name: 'a', image: 'a' }], nodeName: node }
    await apply({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'here', namespace } },
      spec: { ...pod, volumes: [{ name: 'mine', secret: { secretName: 'mine' } }] },
    })
    const headers = { 'impersonate-user': `system:node:${node}`, 'impersonate-group': 'system:nodes' }
    const askNode = (path: string) => sendAs(admin, path, { headers })
    const secrets = `/kapi/v1/namespaces/${namespace}/secrets`
    const ours = `fieldSelector=spec.nodeName%3D${node}`
    await eventually(async () => {
      const { code, body } = await askNode(`${secrets}?${encoded('mine')}`)
      expect(code, body).to.equal(200)
    }, 10_000)
    const pods = await askNode(`/kapi/v1/pods?${ours}`)
    expect(pods.code, pods.body).to.equal(200)
    for (const { spec } of JSON.parse(pods.body).items) expect(spec.nodeName).to.equal(node)
    const refused: readonly (readonly [path: string, code: number])[] = [
      [`${secrets}?${encoded('other')}`, 403],
      [`${secrets}?${encoded('mine')}&fieldSelector=`, 400],
      [`${secrets}?${encoded('mine')}&${encoded('other')}`, 400],
      [`/kapi/v1/pods?${ours}&fieldSelector=`, 400],
      [`/kapi/v1/pods?${ours}&%66ieldSelector=spec.nodeName%3Dx`, 400],
      [`/kapi/v1/pods?${ours};a=b`, 400],
      ['/kapi/v1/pods', 403],
      // With the deprecated prefix, a selector does not affect authorization.
      [`/kapi/v1/watch/pods?${ours}`, 403],
    ]
    for (const [path, code] of refused) {
      const response = await askNode(path)
      expect(response.code, `${path}: ${response.body}`).to.equal(code)
    }
  })

  it('does not extend a permission in one namespace to cluster-scoped objects (CVE-2019-11247)', async () => {
    const kinds = [
      ...[
        'kapi/v1/namespaces',
        'kapi/v1/nodes',
        'kapi/v1/persistentvolumes',
        'kapis/storage.k8s.io/v1/storageclasses',
      ],
      ...[
        'kapis/rbac.authorization.k8s.io/v1/clusterroles',
        'kapis/apiextensions.k8s.io/v1/customresourcedefinitions',
      ],
      ...[`kapis/iam.${groupDomain}/v1alpha2/users`, `kapi/iam.${groupDomain}/v1alpha2/loginsessions`],
      ...[`kapis/tenant.${groupDomain}/v1alpha1/workspaces`, `kapis/${resources}/v1alpha3/namespaces`],
      ...[`kapis/${resources}/v1alpha3/workspaces`, `kapis/${resources}/v1alpha3/nodes`],
      ...[
        `apis/${resources}/v1alpha3/namespaces`,
        `apis/${resources}/v1alpha3/nodes`,
        `apis/${resources}/v1alpha3/workspaces`,
      ],
    ]
    for (const kind of kinds) {
      const cut = kind.lastIndexOf('/')
      const [root, plural] = [`/${kind.slice(0, cut)}`, kind.slice(cut + 1)]
      const inside = `namespaces/${namespace}/${plural}`
      for (const rest of [
        inside,
        `${inside}/`,
        `${inside}/default`,
        `watch/${inside}`,
        `watch/${inside}/default`,
      ]) {
        for (const query of ['', '?watch=true', `?${encoded('default')}`]) {
          const path = `${root}/${rest}${query}`
          const { code, body } = await sendAs(viewer, path)
          expect(code, `${path}: ${body}`).to.equal(404)
          expect(JSON.parse(body)).to.not.have.property('items')
        }
      }
    }
    const kept = await sendToKube(viewer, `/api/v1/namespaces/${namespace}/namespaces`)
    expect(kept.code).to.equal(404)
  })

  it('finds no namespaced object at a cluster-scoped path', async () => {
    for (const root of ['/kapi/v1/', '/kapi/v1/watch/', `/kapis/${resources}/v1alpha3/`]) {
      const response = await sendAs(admin, `${root}secrets/mine`)
      expect(response.code, `${root}: ${response.body}`).to.equal(404)
    }
  })

  it('does not permit a write to a caller who may only watch, also below /watch/ and /proxy/', async () => {
    const roots = ['/kapi/v1', '/api/v1', `/kapis/${resources}/v1alpha3`, `/apis/${resources}/v1alpha3`]
    const paths = roots.flatMap(root =>
      ['watch', 'proxy'].flatMap(special => [
        `${root}/${special}/namespaces/${namespace}/secrets`,
        `${root}/${special}/namespaces/${namespace}/secrets/other`,
        `${root}/${special}/namespaces/${namespace}/registrysecrets/x/verify`,
        `${root}/${special}/nodes`,
      ]),
    )
    const users = ['watch', 'proxy'].map(
      special => `/kapis/iam.${groupDomain}/v1alpha2/${special}/users/${user}`,
    )
    for (const path of [...paths, ...users]) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'new' } })
        for (const query of ['', '?watch=true']) {
          const response = await sendAs(watcher, path + query, { method, headers, body })
          expect(response.code, `${method} ${path}${query}: ${response.body}`).to.be.oneOf([403, 404, 405])
        }
      }
    }
    expect(await kubectlOutput('-n', namespace, 'get', 'secrets', '-o', 'name')).to.equal(
      'secret/mine\nsecret/other\n',
    )
  })

  it('has the same path in every encoding', async () => {
    const spellings = [
      `/kap%69/v1/namespaces/${namespace}/secrets/other`,
      `/%6bapi/v1/n%61mespaces/${namespace}/secrets/other`,
      `/kapi/v1/namespaces/${namespace}/secrets/o%74her/`,
      `/kapi/v1/namespaces/${namespace}/secret%73/other?fieldSelector=metadata.name%3Dmine`,
    ]
    for (const path of spellings) {
      const headers = { authorization: `Bearer ${named}` }
      expect((await askRaw(path, { headers })).code, path).to.equal(403)
      const mine = await askRaw(path.replace(/o(t|%74)her/, 'mine'), { headers })
      expect([mine.code, JSON.parse(mine.body).metadata?.name], path).to.deep.equal([200, 'mine'])
    }
    // kube-apiserver receives the path that was authorized.
    const dryRun = `/%6bapi/v1/namespaces/${namespace}/configmaps?dryRun=All`
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } })
    const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' }
    expect(await askRaw(dryRun, { method: 'POST', headers, body })).to.include({ code: 201 })
  })

  it('treats the parameter secret as the name of a Secret, and never as a path', async () => {
    const root = `/kapis/${resources}/v1alpha3/namespaces/${namespace}/imageconfig?image=localhost/x`
    for (const secret of ['mine/../other', 'mine%2f..%2fother', '../secrets/other', 'other'])
      expect((await sendAs(viewer, `${root}&secret=${secret}`)).code, secret).to.be.oneOf([400, 404])
  })
})
