import { expect } from 'chai'
import { type FakeKubeApiserver, respondJson, startFakeKubeApiserver } from '../../kubeclient/fixtures.ts'
import { createDiscoveryCache } from './discovery-cache.ts'

type Resource = {
  readonly plural: string
  readonly kind: string
  readonly scope?: string
  readonly verbs?: readonly string[]
}
type Group = Readonly<Record<string, readonly Resource[]>>

function discovery(groups: Readonly<Record<string, Group>>) {
  return {
    kind: 'APIGroupDiscoveryList',
    items: Object.entries(groups).map(([name, versions]) => ({
      metadata: { name },
      versions: Object.entries(versions).map(([version, resources]) => ({
        version,
        resources: resources.map(
          ({ plural, kind, scope = 'Namespaced', verbs = ['get', 'list', 'watch'] }) => ({
            resource: plural,
            responseKind: { kind },
            scope,
            singularResource: kind.toLowerCase(),
            verbs,
          }),
        ),
      })),
    })),
  }
}

const core = {
  '': {
    v1: [
      { plural: 'pods', kind: 'Pod' },
      { plural: 'nodes', kind: 'Node', scope: 'Cluster' },
      { plural: 'events', kind: 'Event' },
      { plural: 'bindings', kind: 'Binding', verbs: ['create'] },
      { plural: 'componentstatuses', kind: 'ComponentStatus', scope: 'Cluster', verbs: ['get', 'list'] },
    ],
  },
}
const others = {
  'a.example.com': {
    v1: [{ plural: 'widgets', kind: 'Widget' }],
    v1beta1: [{ plural: 'widgets', kind: 'Widget' }],
  },
  'events.k8s.io': { v1: [{ plural: 'events', kind: 'Event' }] },
  'metrics.k8s.io': { v1beta1: [{ plural: 'pods', kind: 'PodMetrics', verbs: ['get', 'list'] }] },
  'iam.kapis.io': { v1alpha2: [{ plural: 'users', kind: 'User', scope: 'Cluster' }] },
  'aaa.example.com': { v1: [{ plural: 'users', kind: 'User', scope: 'Cluster' }] },
  'resources.kapis.io': { v1alpha3: [{ plural: 'gadgets', kind: 'Gadget' }] },
}

describe('createDiscoveryCache', () => {
  let fake: FakeKubeApiserver | undefined
  afterEach(() => fake?.close())

  async function start(rest: () => Readonly<Record<string, Group>> = () => others) {
    fake = await startFakeKubeApiserver((req, res) => {
      respondJson(res, 200, discovery(req.url === '/api' ? core : rest()))
    })
    return { fake, discovery: createDiscoveryCache({ client: fake.client, groupDomain: 'kapis.io' }) }
  }

  const byPlural: readonly [string, string | undefined][] = [
    ['pods', '/api/v1/pods'],
    ['nodes', '/api/v1/nodes'],
    // Several groups serve these plurals: the table of kinds selects one.
    ['events', '/api/v1/events'],
    // Kinds of the platform take precedence.
    ['users', '/apis/iam.kapis.io/v1alpha2/users'],
    // The preferred version comes first.
    ['widgets', '/apis/a.example.com/v1/widgets'],
    ['gadgets', undefined],
    ['bindings', undefined],
    ['componentstatuses', '/api/v1/componentstatuses'],
    ['constructor', undefined],
    ['', undefined],
  ]
  for (const [plural, path] of byPlural) {
    it(`resolves ${JSON.stringify(plural)} to ${path ?? 'nothing'}`, async () => {
      const { discovery } = await start()
      expect((await discovery.findByPlural(plural))?.source.path).to.equal(path)
    })
  }

  it('finds a kind by group and version', async () => {
    const { discovery } = await start()
    const kind = await discovery.find('a.example.com', 'v1beta1', 'widgets')
    expect(kind).to.deep.include({ plural: 'widgets', kind: 'Widget', singular: 'widget', namespaced: true })
    expect(kind?.source).to.deep.equal({
      group: 'a.example.com',
      version: 'v1beta1',
      path: '/apis/a.example.com/v1beta1/widgets',
    })
    expect((await discovery.find('', 'v1', 'nodes'))?.namespaced).to.equal(false)
    expect(await discovery.find('a.example.com', 'v2', 'widgets')).to.equal(undefined)
    expect(await discovery.find('', 'v1', 'bindings')).to.equal(undefined)
  })

  it('reports kinds that can only be listed', async () => {
    const { discovery } = await start()
    expect(await discovery.find('metrics.k8s.io', 'v1beta1', 'pods')).to.include({ isListedOnly: true })
    expect(await discovery.findByPlural('pods')).to.not.have.property('isListedOnly')
  })

  it('sends one request for concurrent calls', async () => {
    const { discovery, fake: kubeApiserver } = await start()
    await Promise.all([
      discovery.findByPlural('pods'),
      discovery.findByPlural('nodes'),
      discovery.find('', 'v1', 'pods'),
    ])
    await discovery.findByPlural('widgets')
    for (let i = 0; i < 10; i++) await discovery.findByPlural('unicorns')
    expect([...kubeApiserver.requests].sort()).to.deep.equal(['GET /api', 'GET /apis'])
  })

  it('removes passwords from users, and from no other kind', async () => {
    const { discovery } = await start()
    const [own, foreign] = await Promise.all([
      discovery.findByPlural('users'),
      discovery.find('aaa.example.com', 'v1', 'users'),
    ])
    expect(own?.hidden).to.deep.equal([
      ['spec', 'password'],
      ['spec', 'credential'],
      ['spec', 'credentialNamespace'],
      ['metadata', 'annotations', 'kubectl.kubernetes.io/last-applied-configuration'],
    ])
    expect(foreign?.hidden).to.equal(undefined)
  })
})
