import { request } from 'node:http'
import { expect } from 'chai'
import { parse } from 'yaml'
import { renderKube } from '../../apierrors/render-kube.ts'
import {
  type HttpResponse,
  jane,
  type Loopback,
  readResponse,
  startLoopback,
  toExchange,
} from '../../apirequest/fixtures.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import { forbidden } from '../../authz/forbidden.ts'
import type { RbacIndex } from '../../authz/rbac/rbac-index.ts'
import { binding, groupOf, indexOf, role, user } from '../../authz/review/fixtures.ts'
import { serveAccess } from './serve-access.ts'

const root = '/apis/resources.kapis.io/v1alpha3'
const apiVersion = 'resources.kapis.io/v1alpha3'
const pods = { verb: 'get', resource: 'pods' }
const read = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }

describe('serveAccess', () => {
  let index: RbacIndex
  let loopback: Loopback
  let caller: Identity
  /** The lists that the caller may read, as `resource namespace`. */
  let readable: ReadonlySet<string>
  let judged: boolean | undefined
  const judgedFor: string[] = []

  before(async () => {
    index = await indexOf([
      role('view', [read]),
      binding('dev', 'ClusterRole/view', [groupOf('dev')], 'shop'),
      binding('bob', 'ClusterRole/view', [user('bob')]),
      binding('members', 'ClusterRole/view', [groupOf('members')], 'bank'),
      binding('accounts', 'ClusterRole/view', [groupOf('system:serviceaccounts:shop')], 'bank'),
    ])
    loopback = await startLoopback(async (req, res) => {
      try {
        await serveAccess(
          {
            group: 'resources.kapis.io',
            version: 'v1alpha3',
            reader: index.reader(),
            authorize(info, identity) {
              if (!readable.has(`${info.resource} ${info.namespace}`)) throw forbidden(info, identity, '')
            },
            resolution: async () => ({ incomplete: false }),
            async review({ username }) {
              judgedFor.push(username)
              return { isAllowed: judged ?? true, reason: '' }
            },
            userGroup: 'iam.kapis.io',
            groupsOfUser: name => (name === 'alice' ? ['members'] : undefined),
          },
          { ...toExchange(req, res), identity: caller },
        )
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  after(async () => {
    index.stop()
    await loopback.close()
  })
  beforeEach(() => {
    caller = jane
    readable = new Set()
    judged = undefined
  })

  const cluster = ['clusterroles ', 'clusterrolebindings ']
  const allOfRbac = [...cluster, 'roles ', 'rolebindings ']

  function post(
    plural: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
    method = 'POST',
  ): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
    const req = request(
      {
        host: '127.0.0.1',
        port: loopback.port,
        path: `${root}/${plural}`,
        method,
        headers: { 'content-type': 'application/json', ...headers },
        agent: false,
      },
      res => void readResponse(res).then(resolve, reject),
    )
    req.on('error', reject)
    req.end(body)
    return promise
  }
  const kinds: Readonly<Record<string, string>> = {
    whocans: 'WhoCan',
    accessiblenamespaces: 'AccessibleNamespaces',
    subjectaccessreports: 'SubjectAccessReport',
    explainaccesses: 'ExplainAccess',
  }
  async function create(plural: string, spec: object) {
    const { code, text } = await post(plural, JSON.stringify({ apiVersion, kind: kinds[plural], spec }))
    const response = JSON.parse(text)
    return { code, message: String(response.message), status: response.status }
  }

  it('returns the object with its status', async () => {
    const spec = { resourceAttributes: pods }
    const body = { apiVersion, kind: 'AccessibleNamespaces', metadata: { creationTimestamp: null }, spec }
    const { code, text } = await post('accessiblenamespaces', JSON.stringify(body))
    expect(code).to.equal(201)
    expect(JSON.parse(text)).to.deep.equal({
      ...body,
      status: {
        user: 'jane',
        groups: jane.groups,
        allNamespaces: false,
        namespaces: ['shop'],
        incomplete: false,
      },
    })
  })

  it('accepts and returns YAML', async () => {
    const body = `apiVersion: ${apiVersion}\nkind: AccessibleNamespaces\nspec:\n  resourceAttributes: {verb: get, resource: pods}\n`
    const yaml = { 'content-type': 'application/yaml', accept: 'application/yaml' }
    const { code, headers, text } = await post('accessiblenamespaces', body, yaml)
    expect([code, headers['content-type']]).to.deep.equal([201, 'application/yaml'])
    expect(parse(text).status.namespaces).to.deep.equal(['shop'])
  })

  // kube-apiserver validates metadata and status of a SubjectAccessReview in the same way.
  const members: readonly (readonly [body: object, code: number, message: string | undefined])[] = [
    ...['x', 5, [], true].map(
      metadata => [{ metadata }, 400, 'invalid metadata: expected an object'] as const,
    ),
    ...['x', 5, [], true].map(status => [{ status }, 400, 'invalid status: expected an object'] as const),
    [{ metadata: { name: 5 } }, 400, 'invalid metadata.name: expected a string'],
    [{ metadata: { labels: [] } }, 400, 'invalid metadata.labels: expected an object'],
    [{ metadata: { finalizers: {} } }, 400, 'invalid metadata.finalizers: expected a list'],
    [{ metadata: { generation: '1' } }, 400, 'invalid metadata.generation: expected a number'],
    ...[{ name: 'x' }, { labels: { a: 'b' } }, { generation: 9_007_199_254_740_992 }].map(
      metadata =>
        [
          { metadata },
          422,
          `WhoCan.resources.kapis.io "" is invalid: metadata.${Object.keys(metadata)[0]}: Invalid value: must be empty`,
        ] as const,
    ),
    [{ metadata: null, status: null }, 201, undefined],
    [
      { metadata: { namespace: 'x', creationTimestamp: null, labels: {}, name: '' }, status: {} },
      201,
      undefined,
    ],
  ]
  for (const [body, code, message] of members) {
    it(`returns ${code} to ${JSON.stringify(body)}`, async () => {
      readable = new Set(cluster)
      const whole = { apiVersion, kind: 'WhoCan', spec: { resourceAttributes: pods }, ...body }
      const response = await post('whocans', JSON.stringify(whole))
      expect([response.code, JSON.parse(response.text).message]).to.deep.equal([code, message])
    })
  }

  const invalid: readonly [what: string, plural: string, body: unknown, code: number, message: string][] = [
    ['a body that is not JSON', 'whocans', '{', 400, 'the body is not valid JSON'],
    [
      'another kind',
      'whocans',
      { apiVersion, kind: 'ExplainAccess' },
      400,
      'invalid kind: expected "WhoCan"',
    ],
    [
      'another version',
      'whocans',
      { apiVersion: 'v1', kind: 'WhoCan' },
      400,
      `invalid apiVersion: expected "${apiVersion}"`,
    ],
    [
      'an unknown field',
      'accessiblenamespaces',
      { apiVersion, kind: 'AccessibleNamespaces', spec: { resourceAttributes: { ...pods, namespace: 'x' } } },
      400,
      'strict decoding error: unknown field "spec.resourceAttributes.namespace"; supported: verb, group, version, resource, subresource, name',
    ],
    [
      'a WhoCan for an attribute that it does not support',
      'whocans',
      { apiVersion, kind: 'WhoCan', spec: { user: 'bob', resourceAttributes: pods } },
      400,
      'strict decoding error: unknown field "spec.user"; supported: resourceAttributes, nonResourceAttributes',
    ],
    [
      'a number for a name',
      'whocans',
      { apiVersion, kind: 'WhoCan', spec: { resourceAttributes: { ...pods, name: 1 } } },
      400,
      'invalid spec.resourceAttributes.name: expected a string',
    ],
    [
      'missing attributes',
      'whocans',
      { apiVersion, kind: 'WhoCan' },
      422,
      'WhoCan.resources.kapis.io "" is invalid: spec: Invalid value: exactly one of resourceAttributes, nonResourceAttributes must be given',
    ],
    [
      'a missing resource',
      'whocans',
      { apiVersion, kind: 'WhoCan', spec: { resourceAttributes: { verb: 'get' } } },
      422,
      'WhoCan.resources.kapis.io "" is invalid: spec.resourceAttributes.resource: Required value',
    ],
  ]
  for (const [what, plural, body, code, message] of invalid) {
    it(`rejects ${what}`, async () => {
      const response = await post(plural, typeof body === 'string' ? body : JSON.stringify(body))
      expect([response.code, JSON.parse(response.text).message]).to.deep.equal([code, message])
    })
  }

  it('accepts only creations', async () => {
    expect((await post('whocans', '', {}, 'GET')).code).to.equal(405)
    expect((await post('whocans/x', '{}', {}, 'PUT')).code).to.equal(404)
    expect((await post('whocans', 'x', { 'content-type': 'text/plain' })).code).to.equal(415)
  })

  describe('for another user', () => {
    const other: readonly [plural: string, spec: object, permissions: readonly string[]][] = [
      ['whocans', { resourceAttributes: pods }, cluster],
      [
        'whocans',
        { resourceAttributes: { ...pods, namespace: 'shop' } },
        [...cluster, 'roles shop', 'rolebindings shop'],
      ],
      // Names of namespaces that the implementation must not confuse with its own scope names.
      [
        'whocans',
        { resourceAttributes: { ...pods, namespace: 'cluster' } },
        [...cluster, 'roles cluster', 'rolebindings cluster'],
      ],
      ['accessiblenamespaces', { user: 'bob', resourceAttributes: pods }, allOfRbac],
      ['accessiblenamespaces', { groups: ['dev'], resourceAttributes: pods }, allOfRbac],
      ['accessiblenamespaces', { user: 'jane', groups: ['ops'], resourceAttributes: pods }, allOfRbac],
      ['subjectaccessreports', { user: 'bob' }, allOfRbac],
      [
        'subjectaccessreports',
        { user: 'bob', namespace: 'shop' },
        [...cluster, 'roles shop', 'rolebindings shop'],
      ],
      ['explainaccesses', { user: 'bob', resourceAttributes: pods }, allOfRbac],
    ]
    for (const [plural, spec, permissions] of other) {
      it(`requires for ${plural} with ${JSON.stringify(spec)} the permissions to list roles and bindings`, async () => {
        for (const missing of permissions) {
          readable = new Set(permissions.filter(right => right !== missing))
          const { code, message } = await create(plural, spec)
          const [resource] = missing.split(' ')
          expect([code, message]).to.satisfy(
            () => code === 403 && message.includes(`cannot list resource "${resource}"`),
            `${missing}: ${code} ${message}`,
          )
        }
        readable = new Set(permissions)
        expect((await create(plural, spec)).code).to.equal(201)
      })
    }

    it('uses the groups of a service account, and those of a Kapis user if the caller may read users', async () => {
      readable = new Set(allOfRbac)
      const found = async (name: string) =>
        (await create('accessiblenamespaces', { user: name, resourceAttributes: pods })).status
      expect(await found('system:serviceaccount:shop:ci')).to.deep.include({
        groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
        namespaces: ['bank'],
      })
      expect(await found('alice')).to.deep.include({ groups: ['system:authenticated'], namespaces: [] })
      readable = new Set([...allOfRbac, 'users '])
      expect(await found('alice')).to.deep.include({
        groups: ['members', 'system:authenticated'],
        namespaces: ['bank'],
      })
      expect(await found('system:anonymous')).to.deep.include({ groups: ['system:unauthenticated'] })
    })
  })

  describe('for the caller', () => {
    it('requires no permission to read RBAC', async () => {
      for (const spec of [{}, { user: 'jane' }]) {
        const { status } = await create('subjectaccessreports', spec)
        expect(status.namespaces).to.have.length(1)
        expect(status.user).to.equal('jane')
      }
      const { code } = await create('explainaccesses', { resourceAttributes: pods })
      expect(code).to.equal(201)
    })

    it('rejects a caller whose name may have lost blanks in transit', async () => {
      caller = { ...jane, isTrimmed: true }
      expect((await create('subjectaccessreports', {})).code).to.equal(403)
    })

    it('names unbound roles only to a caller who may read roles', async () => {
      judged = false
      const spec = { resourceAttributes: { ...pods, namespace: 'bank' } }
      expect((await create('explainaccesses', spec)).status).to.not.have.property('rolesThatAllow')
      readable = new Set(allOfRbac)
      const { status } = await create('explainaccesses', spec)
      expect(status.rolesThatAllow).to.deep.equal([{ kind: 'ClusterRole', name: 'view' }])
      expect(judgedFor.at(-1)).to.equal('jane')
    })
  })

  it('returns the decision of kube-apiserver, and reports where RBAC differs', async () => {
    judged = false
    const { status } = await create('explainaccesses', { resourceAttributes: { ...pods, namespace: 'shop' } })
    expect(status).to.include({ allowed: false, incomplete: true })
    expect(status.evaluationError).to.match(/^RBAC allows the request and kube-apiserver refuses it/)
    judged = true
    const other = await create('explainaccesses', { resourceAttributes: { ...pods, namespace: 'bank' } })
    expect(other.status).to.include({ allowed: true, incomplete: true })
  })
})
