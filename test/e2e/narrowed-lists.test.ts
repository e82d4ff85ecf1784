import { expect } from 'chai'
import {
  group,
  kubectl,
  makeNamespace,
  sendToKube,
  tokenOf,
  uniqueName,
  version,
  withToken,
} from './cluster.ts'
import { apply, eventually, sendAs } from './http.ts'
import { output, run, setting } from './run.ts'
import { watch } from './watch-client.ts'

const prefix = uniqueName('narrow')
const [home, other, third] = [`${prefix}-a`, `${prefix}-b`, `${prefix}-c`]
const rbac = 'rbac.authorization.k8s.io'
const header = 'kapis-narrowed-namespaces'

type Item = { readonly metadata: { readonly name: string; readonly namespace: string } }

describe('a cluster-wide list for a caller with access to some namespaces', function () {
  this.timeout(60_000)
  let token = ''

  const bind = (namespace: string, role = 'view', reader = home) =>
    apply({
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: role, namespace },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: reader }],
    })
  const placesOf = (body: string) =>
    JSON.parse(body)
      .items.map(({ metadata }: Item) => `${metadata.namespace}/${metadata.name}`)
      .filter((place: string) => !place.endsWith('kube-root-ca.crt'))
      .sort()

  before(async () => {
    await makeNamespace(home, ['reader'])
    for (const namespace of [other, third]) await makeNamespace(namespace, [])
    const items = [home, other, third].flatMap(namespace => {
      const metadata = { name: 'x', namespace, labels: { in: prefix } }
      const spec = { containers: [{ name: 'a', image: 'a' }] }
      return [
        { apiVersion: 'v1', kind: 'Pod', metadata, spec },
        { apiVersion: 'v1', kind: 'ConfigMap', metadata },
        { apiVersion: 'v1', kind: 'Secret', metadata },
      ]
    })
    const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    await output('kubectl', ['apply', '-f', '-'], { stdin })
    token = await tokenOf(home, 'reader')
    expect((await sendAs(token, `/kapi/v1/configmaps`)).code).to.equal(403)
    for (const namespace of [home, other]) await bind(namespace)
    await eventually(async () => {
      const { headers } = await sendAs(token, '/kapi/v1/configmaps?limit=1')
      expect(headers[header]).to.equal('2')
    }, 10_000)
  })
  after(() => kubectl('delete', 'namespace', home, other, third, '--wait=false'))

  it('returns the lists of these namespaces, at each path', async () => {
    for (const [path, namespaced] of [
      ['/kapi/v1/configmaps', '/kapi/v1/namespaces/NS/configmaps'],
      [`/kapis/${group}/${version}/configmaps`, `/kapis/${group}/${version}/namespaces/NS/configmaps`],
      [`/kapis/${group}/${version}/pods`, `/kapis/${group}/${version}/namespaces/NS/pods`],
      [`/apis/${group}/${version}/pods`, `/apis/${group}/${version}/namespaces/NS/pods`],
    ] as const) {
      const expected: string[] = []
      for (const namespace of [home, other, third, 'default', 'kube-system']) {
        const { code, body } = await sendAs(token, namespaced.replace('NS', namespace))
        if (code === 200) expected.push(...placesOf(body))
      }
      const response = await sendAs(token, path)
      expect(response.code, response.body).to.equal(200)
      expect(placesOf(response.body), path).to.deep.equal(expected.sort())
      expect(expected.length, path).to.be.above(1)
      expect(response.headers[header]).to.equal('2')
      expect(response.body).to.not.contain(third)
      const elsewhere = `fieldSelector=metadata.namespace%3D${third}`
      for (const query of [elsewhere, `limit=1&${elsewhere}`, 'labelSelector=none%3Dx']) {
        const none = await sendAs(token, `${path}?${query}`)
        expect([none.code, JSON.parse(none.body).items], query).to.deep.equal([200, []])
      }
    }
  })

  it('returns 403 without permissions, for kinds that cannot be narrowed, and from kube-apiserver', async () => {
    const platform = `/kapis/${group}/${version}`
    for (const path of [
      'secrets',
      'nodes',
      'persistentvolumes',
      'secrets?watch=true',
      'pods/x',
      'watch/pods/x',
    ])
      expect((await sendAs(token, `${platform}/${path}`)).code, path).to.equal(403)
    for (const path of ['/api/v1/pods', '/apis/apps/v1/deployments', '/kapi/v1/nodes'])
      expect((await sendAs(token, path)).code, path).to.equal(403)
    const removed = await sendAs(token, '/kapi/v1/configmaps', { method: 'DELETE' })
    expect(removed.code).to.equal(403)
    expect((await sendToKube(token, `/apis/${group}/${version}/pods`)).code).to.equal(403)
  })

  it('does not reveal hidden objects in counts, tokens, tables, fields, order and errors', async () => {
    const extension = `/apis/${group}/${version}/pods`
    const platform = `/kapis/${group}/${version}/pods`
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
    for (const [path, accept] of [
      [extension, table],
      [extension, partial],
      [`${extension}?limit=1`, 'application/json'],
      [`${extension}?limit=1`, table],
      [`${extension}?resourceVersion=1&resourceVersionMatch=Exact`, 'application/json'],
      [`${platform}?fields=metadata.namespace,metadata.name`, 'application/json'],
      [`${platform}?sortBy=.metadata.namespace&limit=1&page=9`, 'application/json'],
      [`${platform}?q=${third}`, 'application/json'],
      [`${platform}?namespace=${home}&limit=1`, 'application/json'],
      ['/kapi/v1/pods?limit=1', 'application/json'],
    ] as const) {
      const { body } = await sendAs(token, path, { headers: { accept } })
      expect(body, path).to.not.contain(third)
      const { metadata = {}, totalItems = 0 } = JSON.parse(body)
      const { remainingItemCount = 0, continue: next = '' } = metadata
      expect(remainingItemCount, path).to.be.at.most(1)
      expect(totalItems, path).to.be.at.most(2)
      expect(Buffer.from(next, 'base64url').toString(), path).to.not.contain(third)
    }
  })

  it('is the list that kubectl prints, also in chunks', async () => {
    const server = ['--server', setting('KAPIS_URL'), '--certificate-authority', setting('KAPIS_CA')]
    const caller = (await withToken(token)).slice(0, 2)
    const get = ['get', `pods.${group}`, '-A', '--no-headers', '-o', 'custom-columns=:metadata.namespace']
    for (const more of [[], ['--chunk-size=1']]) {
      const out = await output('kubectl', [...caller, ...server, '--token', token, ...get, ...more])
      expect(out.trim().split('\n')).to.deep.equal([home, other])
    }
  })

  it('is the list that kubectl prints through kube-apiserver, with a role for narrowed lists', async () => {
    const role = 'kapis:narrowed-lists'
    const name = `${prefix}-through`
    const caller = await withToken(token)
    const get = async (...more: readonly string[]) => {
      const args = [
        'get',
        `pods.${group}`,
        ...more,
        '--no-headers',
        '-o',
        'custom-columns=:metadata.namespace',
      ]
      const { code, stdout, stderr } = await run('kubectl', [...caller, ...args])
      return code === 0 ? stdout.trim().split('\n') : stderr
    }
    expect(await get('-A'))
      .to.contain('Forbidden')
      .and.contain(`in API group "${group}" at the cluster scope`)
    await kubectl(
      'create',
      'clusterrolebinding',
      name,
      `--clusterrole=${role}`,
      '--group=system:authenticated',
    )
    try {
      await eventually(async () => expect(await get('-A')).to.deep.equal([home, other]), 15_000)
      expect(await get('-A', '--chunk-size=1')).to.deep.equal([home, other])
      expect(await get('-n', third)).to.contain(`in the namespace "${third}"`)
      expect(await get('-n', home)).to.deep.equal([home])
      const through = await sendToKube(token, `/apis/${group}/${version}/pods`)
      expect(through.headers[header]).to.equal('2')
      expect(through.body).to.not.contain(third)
      for (const path of [`/apis/${group}/${version}/pods`, `/kapis/${group}/${version}/pods`])
        expect(placesOf((await sendAs(token, path)).body)).to.deep.equal([`${home}/x`, `${other}/x`])
      // Writers of roles may copy the role, since they have its permission and pass the escalation
      // check of kube-apiserver.
      const copy = `${prefix}-copy`
      await kubectl('create', 'clusterrole', copy, '--verb=list', `--resource=pods.${group}`)
      await kubectl(
        'create',
        'clusterrolebinding',
        copy,
        `--clusterrole=${copy}`,
        `--serviceaccount=${home}:reader`,
      )
      try {
        // Waits until the index of Kapis and the authorizer of kube-apiserver have received the
        // change.
        await new Promise(resolve => setTimeout(resolve, 2_000))
        expect(await get('-A')).to.deep.equal([home, other])
        expect(await get('-n', third)).to.contain(`in the namespace "${third}"`)
      } finally {
        await kubectl('delete', 'clusterrolebinding', copy)
        await kubectl('delete', 'clusterrole', copy)
      }
      // This caller may not list pods in any namespace.
      const { code } = await sendToKube(await tokenOf(third, 'default'), `/apis/${group}/${version}/pods`)
      expect(code).to.equal(403)
      const all = await output('kubectl', ['get', `pods.${group}`, '-A', '-o', 'name'])
      expect(all.split('\n').length).to.be.above(3)
    } finally {
      await kubectl('delete', 'clusterrolebinding', name)
    }
    await eventually(async () => expect(await get('-A')).to.contain('Forbidden'), 15_000)
  })

  it('can be watched where both are permitted; a watch that continues a larger list is rejected with 403', async () => {
    const role = `${prefix}-lists`
    const place = `${prefix}-l`
    await makeNamespace(place, ['reader'])
    const own = await tokenOf(place, 'reader')
    await output('kubectl', ['create', 'clusterrole', role, '--verb=list', '--resource=configmaps'])
    try {
      await bind(place, 'view', place)
      await bind(home, role, place)
      const path = '/kapi/v1/configmaps'
      await eventually(async () => expect((await sendAs(own, path)).headers[header]).to.equal('2'), 15_000)
      const { resourceVersion } = JSON.parse((await sendAs(own, path)).body).metadata
      const refused = await sendAs(own, `${path}?watch=true&resourceVersion=${resourceVersion}`)
      expect(refused.code).to.equal(403)
      expect(refused.body).to.contain(home).and.not.contain(other)
      const state = watch(own, `${path}?watch=true&resourceVersion=0`)
      try {
        await eventually(async () => expect(state.names()).to.deep.equal(['ADDED kube-root-ca.crt']), 15_000)
        await kubectl('-n', home, 'create', 'configmap', 'unseen')
        await kubectl('-n', place, 'create', 'configmap', 'seen')
        await eventually(async () => expect(state.names()).to.include('ADDED seen'), 15_000)
        expect(JSON.stringify(state.events)).to.not.contain(home)
      } finally {
        state.stop()
      }
    } finally {
      await kubectl('delete', 'clusterrole', role)
      await kubectl('delete', 'namespace', place, '--wait=false')
      await kubectl('-n', home, 'delete', 'rolebinding', role)
      await kubectl('-n', home, 'delete', 'configmap', 'unseen')
    }
  })

  it('is watched until the namespaces change, then ends with 410', async () => {
    const path = `/kapi/v1/configmaps?labelSelector=in%3D${prefix}`
    const { resourceVersion } = JSON.parse((await sendAs(token, path)).body).metadata
    const watches = [`&watch=true`, `&watch=true&resourceVersion=${resourceVersion}`].map(query =>
      watch(token, path + query),
    )
    try {
      await eventually(async () => expect(watches[0]?.names()).to.deep.equal(['ADDED x', 'ADDED x']), 15_000)
      await eventually(async () => expect(watches[1]?.state.code).to.equal(200), 15_000)
      await bind(third)
      await eventually(async () => {
        for (const { events, state } of watches) {
          expect(state.isEnded).to.equal(true)
          expect(events.at(-1)).to.deep.include({ type: 'ERROR' })
          expect(JSON.stringify(events.at(-1))).to.contain('"code":410')
        }
      }, 15_000)
      await eventually(async () => {
        const response = await sendAs(token, path)
        expect(response.headers[header]).to.equal('3')
        expect(JSON.parse(response.body).totalItems).to.equal(3)
      }, 15_000)
      // A client that was disconnected during the change must list again.
      const late = watch(token, `${path}&watch=true&resourceVersion=${resourceVersion}`)
      await eventually(async () => expect(JSON.stringify(late.events)).to.contain('"code":410'), 15_000)
      late.stop()
    } finally {
      for (const { stop } of watches) stop()
    }
  })
})
