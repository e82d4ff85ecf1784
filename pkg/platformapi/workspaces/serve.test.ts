import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { unknownResource } from '../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { fieldsOf, type KubeObject } from '../../kubeclient/object/object.ts'
import { replaceAll } from '../../resourcecache/fixtures.ts'
import { resourcesGroup, resourcesVersion, toAggregatedKinds } from '../../resourcecache/kinds.ts'
import { PageCache } from '../../resourcecache/list/page-cache.ts'
import { ObjectStore } from '../../resourcecache/store/store.ts'
import { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import { createUserTimeSlices } from '../../scheduling/time-slices.ts'
import { readCollection } from '../read/read-collection.ts'
import { unusedOwners } from '../subrequests/fixtures.ts'
import { createWorkspaceViews } from './serve.ts'
import { viewOf } from './views.ts'

const groupDomain = 'kapis.io'
const old = '/kapis/tenant.kapis.io/v1alpha2'
const now = '/kapis/tenant.kapis.io/v1alpha3'

function metadata(name: string, more: object = {}) {
  return { name, uid: `u-${name}`, resourceVersion: '7', creationTimestamp: '2031-01-01T00:00:00Z', ...more }
}
function workspace(name: string, spec: object): KubeObject {
  return { kind: 'Workspace', apiVersion: 'tenant.kapis.io/v1alpha1', metadata: metadata(name), spec }
}
function namespace(name: string, of?: string): KubeObject {
  const labels = of === undefined ? {} : { labels: { 'kapis.io/workspace': of } }
  return { kind: 'Namespace', apiVersion: 'v1', metadata: metadata(name, labels) }
}
/** Returns an object as lists and single reads show it, with selfLink. */
function shown(object: KubeObject, path: string): unknown {
  return { ...object, metadata: { ...object.metadata, selfLink: `${path}/${object.metadata.name}` } }
}
function template(object: KubeObject): object {
  return {
    ...Object(shown(object, '/apis/tenant.kapis.io/v1alpha1/workspaces')),
    kind: 'WorkspaceTemplate',
    apiVersion: 'tenant.kapis.io/v1alpha2',
    spec: { placement: {}, template: { metadata: {}, spec: object.spec } },
  }
}

const blue = workspace('blue', { manager: 'jane', networkIsolation: true })
const red = workspace('red', { manager: 'joe' })
const secret = workspace('secret', {})
const namespaces = [
  namespace('b1', 'blue'),
  namespace('b2', 'blue'),
  namespace('r1', 'red'),
  namespace('free'),
]
const native = (object: KubeObject) => shown(object, '/api/v1/namespaces')
const hidden = new Set(['secret', 'b2'])

describe('createWorkspaceViews', () => {
  let loopback: Loopback
  const calls: unknown[] = []
  const created: unknown[] = []
  const managers: unknown[] = []

  function storeOf(plural: string, items: readonly KubeObject[]): ObjectStore {
    const kind = toAggregatedKinds(groupDomain).find(each => each.plural === plural)
    if (kind === undefined) throw new Error(plural)
    const store = new ObjectStore({
      kind,
      group: resourcesGroup(groupDomain),
      version: resourcesVersion,
    })
    replaceAll(store, items, '10')
    return store
  }

  before(async () => {
    const stores = new Map([
      ['workspaces', storeOf('workspaces', [blue, red, secret])],
      ['namespaces', storeOf('namespaces', namespaces)],
    ])
    const of = (plural: string) => {
      const found = stores.get(plural)
      if (found === undefined) throw new Error(plural)
      return found
    }
    const tools = {
      groupDomain,
      pages: new PageCache(),
      broadcaster: new WatchBroadcaster(),
      timeSlices: createUserTimeSlices(),
      isConsistent: () => false,
      owners: unusedOwners,
      printerColumns: async () => undefined,
      narrowed: () => undefined,
    }
    const visible = {
      key: 'jane',
      has: ({ name }: { readonly name: string }) => !hidden.has(name),
      onChange: () => () => undefined,
    }
    const serve = createWorkspaceViews({
      created: async (_exchange, where) => void created.push(where),
      addManager: async (_exchange, of) => void managers.push(of),
      groupDomain,
      ownNamespace: 'kapis-system',
      requirePermission: async () => undefined,
      async callAsKapis() {
        throw new Error('not as the caller')
      },
      isAllowedNow: async () => true,
      async callAs({ identity }, call) {
        calls.push([identity.username, call])
        return { code: 201, text: JSON.stringify(call.path.includes('/workspaces') ? blue : namespaces[0]) }
      },
      read: (exchange, how) =>
        readCollection(of(exchange.info.resource), tools, exchange, { list: 'items', visible, ...how }),
      async isVisible({ info }, only) {
        const entry = of(info.resource).get('', info.name)
        return entry !== undefined && visible.has(entry) && only?.matches(entry) !== false
      },
      visibleTo: async (_exchange, member) => ({ key: member, matches: ({ name }) => name === 'b1' }),
    })
    loopback = await startLoopback(async (req, res) => {
      const exchange = toExchange(req, res)
      try {
        const view = viewOf(groupDomain, exchange)
        if (view === undefined) throw unknownResource()
        await serve(exchange, view)
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  after(() => loopback.close())
  beforeEach(() => {
    calls.splice(0)
    created.splice(0)
    managers.splice(0)
  })

  const sorted = 'sortBy=name&ascending=true'
  const reads: readonly (readonly [path: string, body: unknown])[] = [
    [`${now}/workspacetemplates?${sorted}`, { items: [template(blue), template(red)], totalItems: 2 }],
    [`${old}/workspaces?${sorted}&limit=1&page=2`, { items: [template(red)], totalItems: 2 }],
    [`${now}/workspacetemplates?manager=jane`, { items: [template(blue)], totalItems: 1 }],
    [`${now}/workspacetemplates/blue`, template(blue)],
    [
      `${now}/workspacetemplates/blue?fields=spec.template`,
      { spec: { template: { metadata: {}, spec: blue.spec } } },
    ],
    [`${now}/workspaces/blue`, shown(blue, '/apis/tenant.kapis.io/v1alpha1/workspaces')],
    [
      `${old}/namespaces?${sorted}`,
      { items: [0, 3, 2].map(i => native(namespaces[i] ?? blue)), totalItems: 3 },
    ],
    [`${old}/workspaces/blue/namespaces`, { items: [native(namespace('b1', 'blue'))], totalItems: 1 }],
    // The workspace in the path takes precedence over the parameter.
    [`${old}/workspaces/blue/namespaces?workspace=red`, { items: [], totalItems: 0 }],
    [`${old}/workspaces/secret/namespaces`, { items: [], totalItems: 0 }],
    [`${old}/workspaces/blue/namespaces/b1`, native(namespace('b1', 'blue'))],
    [
      `${old}/workspaces/blue/workspacemembers/joe/namespaces`,
      { items: [native(namespace('b1', 'blue'))], totalItems: 1 },
    ],
    [`${old}/workspaces/red/workspacemembers/joe/namespaces`, { items: [], totalItems: 0 }],
  ]
  for (const [path, body] of reads)
    it(`GET ${path} returns the view of the tenant API`, async () => {
      const { code, text } = await loopback.get(path)
      expect(JSON.parse(text)).to.deep.equal(body)
      expect(code).to.equal(200)
      expect(calls).to.deep.equal([])
    })

  for (const path of [
    `${now}/workspacetemplates/secret`,
    `${old}/workspaces/red/namespaces/b1`,
    `${old}/workspaces/blue/namespaces/b2`,
    `${now}/namespaces`,
    `${old}/workspaces/blue/devops`,
  ])
    it(`GET ${path} is 404`, async () => {
      expect((await loopback.get(path)).code).to.equal(404)
    })

  async function write(method: string, path: string, body?: unknown, type = 'application/json') {
    const response = await fetch(`http://127.0.0.1:${loopback.port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } }),
    })
    const received: unknown = await response.json()
    return { code: response.status, body: received, message: fieldsOf(received).message }
  }
  const native1 = '/apis/tenant.kapis.io/v1alpha1/workspaces'
  const annotations = { 'kapis.io/creator': 'jane' }
  const made = {
    apiVersion: 'tenant.kapis.io/v1alpha2',
    kind: 'WorkspaceTemplate',
    metadata: { name: 'blue', annotations },
    spec: {
      template: { spec: { manager: 'jane' }, metadata: { annotations: { 'kapis.io/alias-name': 'Blue' } } },
    },
  }
  const stored = {
    apiVersion: 'tenant.kapis.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name: 'blue', labels: {}, annotations: { 'kapis.io/alias-name': 'Blue', ...annotations } },
    spec: { manager: 'jane' },
  }
  const merge = 'application/merge-patch+json'
  const jsonPatch = 'application/json-patch+json'
  const done = { message: 'success' }
  const written: readonly (readonly [
    request: readonly [method: string, path: string, body?: unknown, type?: string],
    call: object,
    response: readonly [code: number, body: unknown],
  ])[] = [
    [
      ['POST', `${now}/workspacetemplates?dryRun=All`, made],
      { method: 'POST', path: `${native1}?dryRun=All`, body: stored },
      [201, template({ ...blue, metadata: blue.metadata })],
    ],
    [
      ['PUT', `${old}/workspaces/blue`, { ...made, spec: { placement: { clusters: [{ name: 'host' }] } } }],
      {
        method: 'PUT',
        path: `${native1}/blue`,
        body: { ...stored, metadata: { name: 'blue', labels: {}, annotations }, spec: {} },
      },
      [201, template(blue)],
    ],
    [
      ['PATCH', `${now}/workspacetemplates/blue`, { spec: { template: { spec: { manager: null } } } }, merge],
      { method: 'PATCH', path: `${native1}/blue`, body: { spec: { manager: null } }, contentType: merge },
      [201, template(blue)],
    ],
    [
      [
        'PATCH',
        `${now}/workspacetemplates/blue`,
        [{ op: 'replace', path: '/spec/template/spec/manager', value: 'joe' }],
        jsonPatch,
      ],
      {
        method: 'PATCH',
        path: `${native1}/blue`,
        body: [{ op: 'replace', path: '/spec/manager', value: 'joe' }],
        contentType: jsonPatch,
      },
      [201, template(blue)],
    ],
    // An array is a JSON Patch, regardless of the Content-Type.
    ...[merge, 'application/json', jsonPatch].map(
      type =>
        [
          [
            'PATCH',
            `${now}/workspacetemplates/blue`,
            [{ op: 'add', path: '/spec', value: { template: { spec: { manager: 'joe' } }, placement: {} } }],
            type,
          ],
          {
            method: 'PATCH',
            path: `${native1}/blue`,
            body: [{ op: 'add', path: '/spec', value: { manager: 'joe' } }],
            contentType: jsonPatch,
          },
          [201, template(blue)],
        ] as const,
    ),
    [
      ['PATCH', `${now}/workspacetemplates/blue`, { metadata: { labels: { a: 'b' } } }, 'application/json'],
      {
        method: 'PATCH',
        path: `${native1}/blue`,
        body: { metadata: { labels: { a: 'b' } } },
        contentType: merge,
      },
      [201, template(blue)],
    ],
    [
      [
        'PATCH',
        `${now}/workspacetemplates/blue`,
        { spec: { template: { metadata: { labels: { a: 'b' } }, spec: null } } },
        merge,
      ],
      {
        method: 'PATCH',
        path: `${native1}/blue`,
        body: { metadata: { labels: { a: 'b' } }, spec: null },
        contentType: merge,
      },
      [201, template(blue)],
    ],
    ...[{ spec: null }, { spec: { template: null } }].map(
      patch =>
        [
          ['PATCH', `${now}/workspacetemplates/blue`, patch, merge],
          { method: 'PATCH', path: `${native1}/blue`, body: { spec: null }, contentType: merge },
          [201, template(blue)],
        ] as const,
    ),
    [
      ['DELETE', `${now}/workspacetemplates/blue`, { propagationPolicy: 'Orphan' }],
      {
        method: 'DELETE',
        path: `${native1}/blue`,
        body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Orphan' },
      },
      [200, done],
    ],
    [
      ['POST', `${old}/workspaces/blue/namespaces`, { metadata: { name: 'b3', labels: { a: 'b' } } }],
      {
        method: 'POST',
        path: '/api/v1/namespaces',
        body: {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: 'b3', labels: { a: 'b', 'kapis.io/workspace': 'blue' } },
        },
      },
      [201, namespaces[0]],
    ],
    [
      ['PATCH', `${old}/workspaces/blue/namespaces/b1`, { metadata: { labels: { a: 'b' } } }, merge],
      {
        method: 'PATCH',
        path: '/api/v1/namespaces/b1',
        body: { metadata: { labels: { a: 'b', 'kapis.io/workspace': 'blue' } } },
        contentType: merge,
      },
      [201, namespaces[0]],
    ],
    [
      ['DELETE', `${old}/workspaces/blue/namespaces/b1`],
      { method: 'DELETE', path: '/api/v1/namespaces/b1' },
      [200, done],
    ],
  ]
  for (const [request, call, [code, body]] of written)
    it(`sends ${request[0]} ${request[1]} to kube-apiserver as the caller`, async () => {
      const response = await write(...request)
      expect(calls).to.deep.equal([['jane', call]])
      const isNew = request[0] === 'POST' && request[1].endsWith('/namespaces')
      const isWorkspace = request[0] === 'POST' && !isNew && !request[1].includes('dryRun')
      expect(managers).to.deep.equal(isWorkspace ? [{ workspace: 'blue', manager: 'jane' }] : [])
      expect(created).to.deep.equal(isNew ? [{ workspace: 'blue', namespace: 'b1' }] : [])
      // The response of kube-apiserver to a write is sent unchanged, without selfLink.
      const { metadata: meta, ...rest } = Object(body)
      const { selfLink: _, ...plain } = Object(meta)
      expect(response).to.deep.include({
        code,
        body: meta === undefined ? rest : { ...rest, metadata: plain },
      })
    })

  it('warns about the namespaces of a deleted workspace', async () => {
    const { headers } = await fetch(`http://127.0.0.1:${loopback.port}${now}/workspacetemplates/blue`, {
      method: 'DELETE',
    })
    expect(headers.get('warning')).to.equal(
      '299 - "namespaces with an ownerReference to the workspace are deleted with it, unless propagationPolicy is Orphan; others remain"',
    )
  })

  const mistyped: readonly (readonly [sent: object, field: string])[] = [
    [{ spec: 5 }, 'spec'],
    [{ spec: [] }, 'spec'],
    [{ spec: { template: 'x' } }, 'spec.template'],
    [{ spec: { template: { spec: 5 } } }, 'spec.template.spec'],
    [{ spec: { template: { metadata: 5 } } }, 'spec.template.metadata'],
    [{ spec: { template: { metadata: { labels: 5 } } } }, 'spec.template.metadata.labels'],
    [{ spec: { placement: 'host' } }, 'spec.placement'],
  ]
  const unsupported: readonly (readonly [spec: object, field: string])[] = [
    [{ other: 1 }, 'spec.other'],
    [{ template: { other: 1 } }, 'spec.template.other'],
    [
      { template: { metadata: { creationTimestamp: null, finalizers: ['a'] } } },
      'spec.template.metadata.finalizers',
    ],
    [{ overrides: 5 }, 'spec.overrides'],
    [{ placement: { clusters: 5 } }, 'spec.placement'],
    [{ placement: { clusters: [{ name: 'host' }, 5] } }, 'spec.placement'],
    [{ placement: { clusterSelector: 5 } }, 'spec.placement'],
  ]

  const refused: readonly (readonly [
    request: readonly [method: string, path: string, body?: unknown, type?: string],
    code: number,
    message: string,
  ])[] = [
    [['POST', `${now}/workspacetemplates`, []], 400, 'the body must be a WorkspaceTemplate as a JSON object'],
    [
      ['POST', `${now}/workspacetemplates`, { kind: 'Workspace' }],
      400,
      'the body must be a WorkspaceTemplate of tenant.kapis.io/v1alpha2',
    ],
    [
      ['PUT', `${now}/workspacetemplates/red`, made],
      400,
      'metadata.name must be the name in the path, "red"',
    ],
    [
      [
        'POST',
        `${now}/workspacetemplates`,
        { ...made, spec: { placement: { clusters: [{ name: 'other' }] } } },
      ],
      422,
      'WorkspaceTemplate.tenant.kapis.io "blue" is invalid: spec.placement: workspaces exist in this cluster only: only spec.template is supported',
    ],
    [
      ['PATCH', `${now}/workspacetemplates/blue`, [{ op: 'remove', path: '/spec/placement' }], jsonPatch],
      400,
      'invalid path "/spec/placement": expected one below /metadata or /spec/template/spec',
    ],
    [
      [
        'PATCH',
        `${now}/workspacetemplates/blue`,
        [{ op: 'add', path: '/spec', value: { overrides: [{}] } }],
        jsonPatch,
      ],
      422,
      'WorkspaceTemplate.tenant.kapis.io "blue" is invalid: spec.overrides: workspaces exist in this cluster only: only spec.template is supported',
    ],
    [
      [
        'PATCH',
        `${now}/workspacetemplates/blue`,
        [{ op: 'add', path: '/spec', value: { template: { metadata: { labels: { a: 'b' } } } } }],
        jsonPatch,
      ],
      400,
      'invalid value of /spec: expected labels and annotations below /metadata',
    ],
    ...mistyped.flatMap(([sent, field]) =>
      (['POST', 'PATCH'] as const).map(
        method =>
          [
            [method, `${now}/workspacetemplates${method === 'POST' ? '' : '/blue'}`, { ...made, ...sent }],
            400,
            `${field} must be an object`,
          ] as const,
      ),
    ),
    ...unsupported.map(
      ([spec, field]) =>
        [
          ['POST', `${now}/workspacetemplates`, { ...made, spec }],
          422,
          `WorkspaceTemplate.tenant.kapis.io "blue" is invalid: ${field}: workspaces exist in this cluster only: only spec.template is supported`,
        ] as const,
    ),
    [['POST', `${now}/workspacetemplates`, made, 'text/plain'], 415, 'the body must be application/json'],
    [
      ['POST', `${old}/workspaces/secret/namespaces`, {}],
      404,
      'workspaces.tenant.kapis.io "secret" not found',
    ],
    [
      ['POST', `${old}/workspaces/blue/namespaces`, { kind: 'Pod' }],
      400,
      'the body must be a Namespace of v1',
    ],
    [['DELETE', `${old}/workspaces/red/namespaces/b1`], 404, 'namespaces "b1" not found'],
    [['DELETE', `${old}/workspaces/blue/namespaces/b2`], 404, 'namespaces "b2" not found'],
    [
      ['POST', `${now}/workspaces`, made],
      405,
      'the server does not allow this method on the requested resource',
    ],
    [
      ['DELETE', `${now}/workspacetemplates`],
      405,
      'the server does not allow this method on the requested resource',
    ],
  ]
  for (const [request, code, message] of refused)
    it(`${request[0]} ${request[1]} ${JSON.stringify(request[2])} is ${code}`, async () => {
      const response = await write(...request)
      expect(response).to.deep.include({ code })
      expect(response.message).to.equal(message)
      expect(calls).to.deep.equal([])
    })
})
