import { expect } from 'chai'
import { accessToken, group, kubectl, kubectlOutput, makeNamespace, uniqueName, version } from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { expectedOf, type OracleCluster, type PrintedObject, statusOf } from './lists-oracle.ts'
import { crd, examplesOf, platformKinds } from './lists-platform-kinds.ts'
import { definitions, sampleOf, widgetGroup } from './lists-sample.ts'
import { output } from './run.ts'

const namespace = uniqueName('lists')
const base = `/kapis/${group}/${version}`

/** The additional queries of each kind. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  nodes: [
    'status=running',
    'status=unschedulable',
    'status=warning',
    'fieldSelector=status.nodeInfo.operatingSystem=linux',
  ],
  pods: [
    'status=Running',
    'status=Waiting',
    'status=Completed',
    'status=Error',
    'phase=Failed',
    'phase=Running',
    'phase=Pending',
    'nodeName=worker-1',
    'nodeName=nowhere',
    'pvcName=data',
    'pvcName=spare',
    'serviceName=shop',
    'serviceName=bare',
    'serviceName=none',
    'ownerKind=ReplicaSet',
    'ownerKind=StatefulSet&nodeName=worker-1',
    'fieldSelector=spec.nodeName=worker-2',
  ],
  deployments: [
    'status=running',
    'status=stopped',
    'status=updating',
    'alias=Laden',
    'annotation=team=red',
    'q=der+laden',
  ],
  statefulsets: ['status=running', 'status=stopped', 'status=updating'],
  daemonsets: ['status=running', 'status=updating', 'status=stopped'],
  replicasets: ['ownerKind=Deployment'],
  jobs: ['status=running', 'status=completed', 'status=failed'],
  cronjobs: ['status=paused', 'status=running'],
  services: [],
  endpoints: [],
  endpointslices: ['ownerKind=Service'],
  events: ['fieldSelector=involvedObject.name=mounts', 'fieldSelector=type=Warning'],
  configmaps: ['labelSelector=tier=front', 'labelSelector=!tier'],
  secrets: ['fieldSelector=type=kubernetes.io/dockerconfigjson', 'fieldSelector=type=Opaque'],
  serviceaccounts: [],
  persistentvolumes: ['status=available', 'status=Bound', 'storageClassName=other'],
  persistentvolumeclaims: ['status=pending', 'status=Bound', 'storageClassName=slow'],
  storageclasses: [],
  volumesnapshots: [
    'status=ready',
    'status=creating',
    'status=deleting',
    'volumeSnapshotClassName=snap',
    'persistentVolumeClaimName=spare',
  ],
  volumesnapshotclasses: [],
  volumesnapshotcontents: [
    'readyToUse=true',
    'readyToUse=false',
    'volumeSnapshotName=taken',
    `volumeSnapshotNamespace=${namespace}`,
    'volumeSnapshotClassName=snap',
  ],
  applications: [],
  ingresses: [],
  networkpolicies: [],
  roles: [],
  rolebindings: [],
  clusterroles: ['name=system:', 'labelSelector=kubernetes.io/bootstrapping=rbac-defaults'],
  clusterrolebindings: [],
  namespaces: ['status=Active', 'status=Terminating'],
  customresourcedefinitions: ['name=Widget', 'name=widgets'],
  limitranges: [],
  resourcequotas: [],
  poddisruptionbudgets: [],
  horizontalpodautoscalers: [],
  leases: [],
  users: [
    'status=active',
    'status=disabled',
    'email=admin@example.com',
    'ingroup=platform-admins',
    'notingroup=platform-admins',
  ],
  loginrecords: ['type=Token', 'type=OAuth'],
  workspaces: [`manager=${namespace}`],
  widgets: [
    'status=busy',
    'status=Idle',
    'sortBy=.spec.rank&ascending=true',
    'sortBy=.spec.size&limit=2',
    'fieldSelector=spec.colour=red',
    'q=widget-2',
  ],
}

const platform = platformKinds(groupDomain)
const brought = platform
  .filter(({ version }) => version === undefined)
  .map(({ group: ofGroup, kind, namespaced }) => crd(ofGroup, 'v1', kind, namespaced))

/** Returns the queries for all kinds, with values of an object. */
function asked({ metadata }: PrintedObject): readonly string[] {
  const [label] = Object.entries<string>(metadata.labels ?? {})
  const [owner] = metadata.ownerReferences ?? []
  return [
    '',
    'ascending=true',
    'sortBy=name',
    'sortBy=name&ascending=true&limit=2',
    'sortBy=name&ascending=true&limit=2&page=2',
    'sortBy=creationTimestamp&limit=3&page=2',
    'sortBy=updateTime&limit=4',
    'sortBy=lastUpdateTimestamp&ascending=true',
    'limit=1',
    'limit=0',
    'limit=5&page=99',
    `name=${metadata.name.slice(1, 5)}`,
    `names=${metadata.name},no-such-name`,
    `uid=${metadata.uid}`,
    `fieldSelector=metadata.name=${metadata.name}`,
    `q=${metadata.name.toUpperCase()}`,
    ...(metadata.namespace ? [`namespace=${metadata.namespace}&sortBy=name`] : []),
    ...(label ? [`labelSelector=${label[0]}=${label[1]}`, `label=${label[0]}`] : []),
    ...(owner ? [`ownerReference=${owner.uid}`, `ownerKind=${owner.kind}`] : []),
  ]
}

async function applyAll(items: readonly object[]): Promise<void> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  await output('kubectl', ['apply', '-f', '-'], { stdin: list })
}

describe('lists of every kind, against kubectl', function () {
  this.timeout(180_000)

  let token = ''
  let world: OracleCluster

  const printed = async (plural: string): Promise<readonly PrintedObject[]> =>
    JSON.parse(await kubectlOutput('get', plural, '-A', '-o', 'json', '--show-managed-fields')).items
  const list = async (path: string, query: string) => {
    const response = await sendAs(token, `${path}${query === '' ? '' : `?${query}`}`)
    expect(response.code, `${query}: ${response.body.slice(0, 300)}`).to.equal(200)
    return JSON.parse(response.body)
  }
  const shown = ({ items, totalItems }: PrintedObject) => ({
    names: items.map(({ metadata }: PrintedObject) => `${metadata.namespace ?? ''}/${metadata.name}`),
    total: totalItems,
  })

  before(async () => {
    token = await accessToken()
    await makeNamespace(namespace, ['default'])
    await applyAll([...definitions, ...brought])
    // Repeated, since a kind becomes available some time after its definition.
    const examples = platform.flatMap(kind => examplesOf(kind, namespace))
    await eventually(() => applyAll([...sampleOf(namespace, groupDomain), ...examples]), 60_000)
    const inside = ['-n', namespace]
    const failed = '{"status":{"phase":"Failed"}}'
    await kubectlOutput(...inside, 'patch', 'pod', 'broken', '--subresource=status', '-p', failed)
    await kubectlOutput(...inside, 'delete', 'volumesnapshot', 'leaving', '--wait=false')
    world = { groupDomain, services: await printed('services') }
    await kubectlOutput('-n', namespace, 'rollout', 'status', 'deployment/shop', '--timeout=90s')
  })

  after(async () => {
    const release = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}']
    await kubectl('-n', namespace, 'patch', 'volumesnapshot', 'leaving', ...release)
    await kubectl('delete', 'namespace', namespace, '--wait=false')
    // Deleting a definition also deletes its objects.
    const names = brought.map(({ metadata }) => ('name' in metadata ? String(metadata.name) : ''))
    await kubectl('delete', 'crd', ...names, '--ignore-not-found', '--wait=false')
    const defined = platform.filter(({ version }) => version !== undefined)
    const outside = sampleOf(namespace, groupDomain).filter(({ metadata }) => !('namespace' in metadata))
    const others = defined.flatMap(kind => examplesOf(kind, namespace))
    for (const object of [...outside, ...others, ...definitions]) {
      const { kind, metadata } = object
      await kubectl(
        'delete',
        String(kind),
        'name' in metadata ? String(metadata.name) : '',
        '--ignore-not-found',
        '--wait=false',
      )
    }
  })

  for (const [plural, special] of Object.entries(kinds)) {
    it(plural, async () => {
      // Repeated, since objects may change during the comparison.
      await eventually(
        async () => {
          const objects = await printed(plural)
          const [first] = objects
          expect(objects, `there must be ${plural} to compare`).to.not.equal(undefined)
          const byStatus = plural in statusOf ? ['sortBy=status', 'sortBy=status&ascending=true'] : []
          const queries = [...(first === undefined ? [''] : asked(first)), ...byStatus, ...special]
          for (const query of queries) {
            const encoded = String(new URLSearchParams(query))
            const expected = expectedOf(plural, objects, new URLSearchParams(query), world)
            expect(shown(await list(`${base}/${plural}`, encoded)), query).to.deep.equal(expected)
          }
          const own = objects.filter(({ metadata }) => metadata.namespace === namespace)
          if (own.length > 0) {
            const inside = await list(
              `${base}/namespaces/${namespace}/${plural}`,
              'sortBy=name&ascending=true',
            )
            const expected = expectedOf(plural, own, new URLSearchParams('sortBy=name&ascending=true'), world)
            expect(shown(inside)).to.deep.equal(expected)
          }
          await getsSame(plural, own[0] ?? first)
        },
        60_000,
        1_000,
      )
    })
  }

  /**
   * Expects that a single object equals the output of kubectl, except for computed annotations and
   * hidden fields.
   */
  async function getsSame(plural: string, object: PrintedObject): Promise<void> {
    if (object === undefined) return
    const { namespace: inside, name } = object.metadata
    const path = `${base}/${inside === undefined ? '' : `namespaces/${inside}/`}${plural}/${name}`
    expect(withoutOwn(await list(path, ''), groupDomain), path).to.deep.equal(withoutOwn(object, groupDomain))
  }

  it('include custom resources in the platform API', async () => {
    // All kinds in a single call of kubectl.
    const plurals = platform.map(({ plural, group: ofGroup }) => `${plural}.${ofGroup}`).join(',')
    await eventually(
      async () => {
        const everything = await printed(plurals)
        for (const kind of platform) {
          const { plural, queries, namespaced } = kind
          const apiVersion = `${kind.group}/${kind.version ?? 'v1'}`
          const objects = everything.filter(o => o.kind === kind.kind && o.apiVersion === apiVersion)
          expect(objects, plural).to.have.length.of.at.least(kind.examples.length)
          const { name } = objects[0].metadata
          const common = ['', 'sortBy=name&ascending=true', 'limit=1&page=2', `name=${name}`, `names=${name}`]
          for (const query of [...common, ...queries]) {
            const expected = expectedOf(plural, objects, new URLSearchParams(query), world)
            const scope = namespaced ? [`${base}/namespaces/${namespace}/${plural}`] : []
            for (const path of [...scope, `${base}/${plural}`])
              expect(shown(await list(path, query)), `${path}?${query}`).to.deep.equal(expected)
          }
          await getsSame(plural, objects[0])
        }
      },
      60_000,
      500,
    )
  })

  it('contain the objects that kubectl prints, with a selfLink', async () => {
    for (const [plural, name] of [
      ['deployments', 'shop'],
      ['secrets', 'opaque'],
      ['widgets', 'widget-2'],
    ] as const) {
      await eventually(async () => {
        const native = JSON.parse(await kubectlOutput('-n', namespace, 'get', plural, name, '-o', 'json'))
        const own = await list(`${base}/namespaces/${namespace}/${plural}/${name}`, '')
        const { selfLink, ...metadata } = own.metadata
        expect({ ...own, metadata }).to.deep.equal(native)
        const { apiVersion } = native
        const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
        expect(selfLink).to.equal(`${root}/namespaces/${namespace}/${plural}/${name}`)
      }, 20_000)
    }
  })

  it('contain for claims whether they are mounted and support snapshots', async () => {
    const annotationsOf = async (name: string) => {
      const { metadata } = await list(`${base}/namespaces/${namespace}/persistentvolumeclaims/${name}`, '')
      return [
        metadata.annotations[`${groupDomain}/in-use`],
        metadata.annotations[`${groupDomain}/allow-snapshot`],
      ]
    }
    await eventually(async () => {
      expect(await annotationsOf('data')).to.deep.equal(['true', 'true'])
      expect(await annotationsOf('spare')).to.deep.equal(['false', 'false'])
    }, 20_000)
  })

  it('contain custom resources under their own group, with their own list kind', async () => {
    const path = `/kapis/${widgetGroup}/v1/namespaces/${namespace}/widgets`
    const page = await list(path, 'sortBy=.spec.rank&ascending=true&limit=2&fields=metadata.name,spec.rank')
    expect(page).to.deep.include({
      kind: 'WidgetList',
      apiVersion: `${widgetGroup}/v1`,
      totalItems: 3,
      items: [1, 2].map(rank => ({ metadata: { name: `widget-${rank}` }, spec: { rank } })),
    })
    expect(page.metadata.remainingItemCount).to.equal(1)
    const body = JSON.stringify({
      apiVersion: `${widgetGroup}/v1`,
      kind: 'Widget',
      metadata: { name: 'made-here' },
      spec: { rank: 9 },
    })
    const headers = { 'content-type': 'application/json' }
    expect((await sendAs(token, path, { method: 'POST', headers, body })).code).to.equal(201)
    await eventually(async () => {
      expect((await list(`${path}/made-here`, '')).spec).to.deep.equal({ rank: 9 })
    }, 10_000)
    expect((await sendAs(token, `${path}/made-here`, { method: 'DELETE' })).code).to.equal(200)
    await eventually(async () => {
      expect((await sendAs(token, `${path}/made-here`)).code).to.equal(404)
    }, 10_000)
  })

  it('serve the core group at /kapi/v1', async () => {
    const page = await list(
      `/kapi/v1/namespaces/${namespace}/configmaps`,
      'name=settings&fields=metadata.name',
    )
    expect(page).to.deep.include({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      items: [{ metadata: { name: 'settings' } }],
    })
  })

  const missing: readonly (readonly [string, number, string])[] = [
    [`${base}/unicorns`, 404, 'resource "unicorns" is not supported'],
    [`/kapis/${widgetGroup}/v9/widgets`, 404, `resource "widgets" is not served in ${widgetGroup}/v9`],
    ['/kapis/no.such.group/v1/widgets', 404, 'resource "widgets" is not served in no.such.group/v1'],
    [
      '/kapis/monitoring.kapis.io/v1alpha3/cluster',
      404,
      'resource "cluster" is not served in monitoring.kapis.io/v1alpha3: monitoring is not part of Kapis: use Prometheus',
    ],
    [`${base}/namespaces/x/nodes`, 404, 'resource "nodes" is not namespaced'],
    [`${base}/namespaces/x/deployments/none`, 404, 'deployments.apps "none" not found'],
    [`${base}/pods?watch=true&limit=501`, 400, 'a watch of a page needs a limit from 0 to 500'],
    [
      `${base}/pods?watch=true&limit=3&resourceVersion=1`,
      400,
      'resourceVersion cannot be used with a watch of a page, which begins with the newest state',
    ],
  ]
  // As in KubeSphere 3.4.
  for (const [query, warning] of [
    ['pods?status=Happy', 'status must be one of Running, Error, Completed, Waiting, not "Happy"'],
    ['volumesnapshotcontents?readyToUse=1', 'readyToUse must be true or false, not "1"'],
  ]) {
    it(`are empty for ${query}, with a warning`, async () => {
      const { code, body, headers } = await sendAs(token, `${base}/${query}`)
      expect([code, JSON.parse(body)]).to.deep.equal([200, { items: [], totalItems: 0 }])
      expect(String(headers.warning)).to.include(JSON.stringify(`no object matches: ${warning}`))
    })
  }

  for (const [path, code, message] of missing) {
    it(`respond to ${path} with ${code}`, async () => {
      const response = await sendAs(token, path)
      expect(response.code).to.equal(code)
      expect(JSON.parse(response.body).message).to.equal(message)
    })
  }
})

function withoutOwn(object: PrintedObject, ofDomain: string): PrintedObject {
  const { selfLink: _link, managedFields: _fields, annotations = {}, ...metadata } = object.metadata
  const isComputed = (key: string) =>
    key.startsWith(`node.${ofDomain}/`) ||
    ['in-use', 'allow-snapshot', 'pvc-count', 'snapshot-count'].some(name => key === `${ofDomain}/${name}`)
  const isUser = object.kind === 'User'
  const kept = Object.entries(annotations).filter(
    ([key]) => !isComputed(key) && !(isUser && key === 'kubectl.kubernetes.io/last-applied-configuration'),
  )
  const shown = { ...object, metadata: { ...metadata, annotations: Object.fromEntries(kept) } }
  if (!isUser) return shown
  const {
    password: _password,
    credential: _credential,
    credentialNamespace: _namespace,
    ...spec
  } = object.spec
  return { ...shown, spec }
}
