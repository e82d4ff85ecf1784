import { expect } from 'chai'
import { rejectedStatus } from '../apierrors/fixtures.ts'
import { unavailable } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { anonymous } from '../apirequest/identity/identity.ts'
import { QueryParameters } from '../apirequest/query/query-parameters.ts'
import { parseRequestInfo } from '../apirequest/request-info.ts'
import { withClocks } from '../scheduling/clock-fixtures.ts'
import type { ReviewSpec } from './attributes.ts'
import { createAuthorizer, type ExplainDenial } from './authorizer.ts'
import type { RbacCheck } from './review/rbac-check.ts'

const jane: Identity = { username: 'jane', uid: 'u-1', groups: ['dev', 'system:authenticated'], extra: {} }
const group = 'resources.kapis.io'
const store = `/apis/${group}/v1alpha3/nodes`

function start(
  respond: (spec: ReviewSpec) => unknown = () => ({ allowed: true }),
  explain?: ExplainDenial,
  rbac?: RbacCheck,
) {
  const specs: ReviewSpec[] = []
  const observed: string[] = []
  const client = {
    call: async ({ body }: { body?: unknown }) => {
      const { spec } = body as { spec: ReviewSpec }
      specs.push(spec)
      return { status: respond(spec) }
    },
    stream: () => Promise.reject(new Error('not asked for')),
    close: () => undefined,
  }
  const authorize = createAuthorizer({
    client,
    group,
    ...(explain === undefined ? {} : { explain }),
    ...(rbac === undefined ? {} : { rbac }),
    observe: (decision, source) => void observed.push(`${decision} ${source}`),
  })
  const send = async (identity: Identity, method: string, url: string) => {
    const [path = '', search = ''] = url.split('?')
    await authorize(parseRequestInfo(method, path, new QueryParameters(search)), identity)
  }
  return { send, specs, observed }
}

describe('createAuthorizer', () => {
  it('sends one review for identical requests, and reports the source of each decision', async () => {
    const { send, specs, observed } = start()
    await Promise.all([send(jane, 'GET', store), send(jane, 'GET', store)])
    await send(jane, 'GET', store)
    expect(specs.length).to.equal(1)
    expect(observed.at(-1)).to.equal('allowed cache')
  })

  it('explains a denial, and checks the permissions that this requires', async () => {
    const explain: ExplainDenial = async (_info, _identity, isAllowed) => {
      const right = parseRequestInfo('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles')
      return (await isAllowed(right)) ? 'the rule is missing' : ''
    }
    const isRoles = ({ resourceAttributes }: ReviewSpec) => resourceAttributes?.resource === 'clusterroles'
    const { send } = start(spec => ({ allowed: isRoles(spec), reason: 'no' }), explain)
    for (let i = 0; i < 2; i++) {
      const { message } = await rejectedStatus(send(jane, 'GET', store))
      expect(message).to.match(/ at the cluster scope: no; the rule is missing$/)
    }
    const other = start(() => ({ allowed: false }), explain)
    const { message } = await rejectedStatus(other.send(jane, 'GET', store))
    expect(message).to.match(/ at the cluster scope$/)
  })

  it('denies even if the explanation fails', async () => {
    const explain: ExplainDenial = () => Promise.reject(unavailable('not yet'))
    const { send } = start(() => ({ allowed: false }), explain)
    expect(await rejectedStatus(send(jane, 'GET', store))).to.include({ code: 403 })
  })

  it('also caches a denial', async () => {
    const { send, specs } = start(() => ({ allowed: false }))
    for (let i = 0; i < 3; i++)
      expect(await rejectedStatus(send(jane, 'GET', store))).to.include({ code: 403 })
    expect(specs.length).to.equal(1)
  })

  it('sends another review after ten seconds, also after a change of the system time', async () => {
    let allowed = true
    const { send } = start(() => ({ allowed }))
    await send(jane, 'GET', store)
    allowed = false
    await withClocks({ wallMs: 600_000, monotonicMs: 0 }, () => send(jane, 'GET', store))
    await withClocks({ wallMs: -600_000, monotonicMs: 10_001 }, async () => {
      expect(await rejectedStatus(send(jane, 'GET', store))).to.include({ code: 403 })
    })
  })

  describe('with a change of roles or bindings', () => {
    function startWithRbac(first: { allowed: boolean; isGranted: boolean | undefined }) {
      const state = { ...first, generation: 1 }
      const rbac = { generation: () => state.generation, allows: () => state.isGranted }
      const change = (changed: Partial<typeof first>) =>
        Object.assign(state, changed, { generation: state.generation + 1 })
      const { send, specs } = start(() => ({ allowed: state.allowed }), undefined, rbac)
      const codeOf = () =>
        send(jane, 'GET', store).then(
          () => 200,
          error => error.code,
        )
      return { codeOf, change, reviews: () => specs.length }
    }

    it('applies a revoked and a granted permission immediately', async () => {
      const { codeOf, change } = startWithRbac({ allowed: true, isGranted: true })
      expect(await codeOf()).to.equal(200)
      change({ allowed: false, isGranted: false })
      expect(await codeOf()).to.equal(403)
      change({ allowed: true, isGranted: true })
      expect(await codeOf()).to.equal(200)
    })

    it('reviews again soon if kube-apiserver has not received the change', async () => {
      const { codeOf, change } = startWithRbac({ allowed: true, isGranted: true })
      expect(await codeOf()).to.equal(200)
      change({ isGranted: false })
      expect(await codeOf()).to.equal(200)
      change({ allowed: false })
      await withClocks({ wallMs: 0, monotonicMs: 1_001 }, async () => {
        expect(await codeOf()).to.equal(403)
      })
    })

    it('reviews a new permission again soon if kube-apiserver denies it', async () => {
      const { codeOf, change } = startWithRbac({ allowed: false, isGranted: true })
      expect(await codeOf()).to.equal(403)
      change({ allowed: true })
      expect(await codeOf()).to.equal(403)
      await withClocks({ wallMs: 0, monotonicMs: 1_001 }, async () => {
        expect(await codeOf()).to.equal(200)
      })
    })

    it('keeps a decision if the change does not affect the caller, or another authorizer decides', async () => {
      for (const isGranted of [true, false, undefined]) {
        const { codeOf, change, reviews } = startWithRbac({ allowed: true, isGranted })
        for (let i = 0; i < 3; i++) {
          expect(await codeOf()).to.equal(200)
          change({})
        }
        expect(reviews()).to.equal(1)
      }
    })
  })

  it('never confuses callers, verbs, names or selectors', async () => {
    const { send, specs } = start()
    const other = { ...jane, groups: ['ops'] }
    await send(jane, 'GET', store)
    await send(other, 'GET', store)
    await send(jane, 'DELETE', store)
    await send(jane, 'GET', `${store}/a`)
    await send(jane, 'GET', `${store}?watch=true`)
    await send(jane, 'GET', `${store}?labelSelector=a%3Db`)
    await send(jane, 'GET', `/kapis/${group}/v1alpha3/namespaces/x/pods`)
    expect(specs.length).to.equal(7)
  })

  it('sends one review for all tokens of a caller, and one for each other differing attribute', async () => {
    const { send, specs } = start()
    const id = 'authentication.kubernetes.io/credential-id'
    await send({ ...jane, extra: { [id]: ['JTI=1'], 'acme.com/scope': ['a'] } }, 'GET', store)
    await send({ ...jane, extra: { [id]: ['JTI=2'], 'acme.com/scope': ['a'] } }, 'GET', store)
    expect(specs.map(({ extra }) => extra)).to.deep.equal([{ 'acme.com/scope': ['a'] }])
    await send({ ...jane, extra: { 'acme.com/scope': ['b'] } }, 'GET', store)
    expect(specs.length).to.equal(2)
  })

  it('sends no review for superusers', async () => {
    const { send, specs } = start(() => ({ allowed: false }))
    await send({ ...jane, groups: ['system:masters'] }, 'DELETE', store)
    expect(specs).to.deep.equal([])
  })

  it('sends a review for a superuser whose name may have lost blanks in transit', async () => {
    const { send, specs } = start(() => ({ allowed: false }))
    const trimmed = { ...jane, groups: ['system:masters'], isTrimmed: true }
    expect(await rejectedStatus(send(trimmed, 'DELETE', store))).to.include({ code: 403 })
    expect(specs.length).to.equal(1)
  })

  it('prefers an explicit denial to a permission', async () => {
    const { send } = start(() => ({ allowed: true, denied: true }))
    expect(await rejectedStatus(send(jane, 'GET', store))).to.include({ code: 403 })
  })

  it('also caches the decision about a long request, by its digest', async () => {
    const { send, specs } = start()
    const url = `${store}?labelSelector=${'a'.repeat(10_000)}`
    await send(jane, 'GET', url)
    await send(jane, 'GET', url)
    expect(specs.length).to.equal(1)
  })

  it('returns 503 while kube-apiserver does not respond, and caches nothing', async () => {
    let isDown = true
    const { send } = start(() => {
      if (isDown) throw unavailable('down')
      return { allowed: true }
    })
    expect(await rejectedStatus(send(jane, 'GET', store))).to.include({ code: 503 })
    isDown = false
    await send(jane, 'GET', store)
  }).timeout(10_000)

  it('sends the attributes of the request', async () => {
    const { send, specs } = start()
    await send(jane, 'GET', `${store}?fieldSelector=metadata.name%3Da&labelSelector=x%20in%20(b,c),!y,z%3D1`)
    await send(jane, 'GET', `${store}?labelSelector=x%3E5`)
    await send(jane, 'GET', '/metrics')
    // The review omits the term `=a`, since kube-apiserver rejects a review with an empty key.
    await send(jane, 'GET', `${store}?fieldSelector=%3Da,metadata.name%3Db`)
    await send(jane, 'GET', `${store}?fieldSelector=%3Da`)
    expect(specs[0]?.resourceAttributes).to.deep.equal({
      verb: 'list',
      group,
      version: 'v1alpha3',
      resource: 'nodes',
      name: 'a',
      fieldSelector: { requirements: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] },
      labelSelector: {
        requirements: [
          { key: 'x', operator: 'In', values: ['b', 'c'] },
          { key: 'y', operator: 'DoesNotExist' },
          { key: 'z', operator: 'In', values: ['1'] },
        ],
      },
    })
    expect(specs[1]?.resourceAttributes).to.not.have.property('labelSelector')
    expect(specs[2]).to.deep.equal({
      user: 'jane',
      uid: 'u-1',
      groups: jane.groups,
      extra: {},
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    })
    expect(specs[3]?.resourceAttributes?.fieldSelector).to.deep.equal({
      requirements: [{ key: 'metadata.name', operator: 'In', values: ['b'] }],
    })
    expect(specs[4]?.resourceAttributes).to.not.have.property('fieldSelector')
  })

  const messages: readonly (readonly [string, string, string])[] = [
    [
      'GET',
      store,
      `nodes.${group} is forbidden: User "jane" cannot list resource "nodes" in API group "${group}" at the cluster scope`,
    ],
    [
      'GET',
      `${store}/n1`,
      `nodes.${group} "n1" is forbidden: User "jane" cannot get resource "nodes" in API group "${group}" at the cluster scope`,
    ],
    [
      'PUT',
      `${store}/n1/status`,
      `nodes.${group} "n1" is forbidden: User "jane" cannot update resource "nodes/status" in API group "${group}" at the cluster scope`,
    ],
    [
      'GET',
      '/api/v1/namespaces/ns/pods',
      'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "ns"',
    ],
    ['GET', '/metrics', 'forbidden: User "jane" cannot get path "/metrics"'],
    ['GET', '/a<b>&', 'forbidden: User "jane" cannot get path "/a&lt;b&gt;&amp;"'],
  ]
  for (const [method, path, message] of messages) {
    it(`decides ${method} ${path} as kube-apiserver does`, async () => {
      const { send } = start(() => ({ allowed: false, reason: 'because' }))
      expect(await rejectedStatus(send(jane, method, path))).to.include({
        code: 403,
        reason: 'Forbidden',
        message: `${message}: because`,
      })
    })
  }

  const withoutCredentials: readonly (readonly [string, 401 | 403])[] = [
    [`/kapis/${group}/v1alpha3/nodes`, 401],
    [`/kapi/${group}/v1alpha3/nodes`, 401],
    ['/kapis/version', 401],
    ['/api/v1/nodes', 401],
    ['/apis/apps/v1/deployments', 401],
    ...['/api', '/api/v1', '/apis', '/apis/', '/apis/apps', '/apis/apps/v1'].map(
      path => [path, 401] as const,
    ),
    [store, 403],
    [`/apis/${group}`, 403],
    [`/apis/${group}/v1alpha3`, 403],
    ['/openapi/v3', 403],
    ['/apis-of-others', 403],
    ['/metrics', 403],
  ]
  for (const [path, code] of withoutCredentials) {
    it(`returns ${code} to a caller without credentials at ${path}`, async () => {
      const { send } = start(() => ({ allowed: false }))
      const rejection = await rejectedStatus(send(anonymous, 'GET', path))
      expect(rejection.code).to.equal(code)
      expect(rejection.headers['www-authenticate']).to.equal(
        code === 401 ? 'Bearer realm="kapis"' : undefined,
      )
    })

    it(`returns 403 to a caller who impersonates the anonymous user at ${path}`, async () => {
      const { send } = start(() => ({ allowed: false }))
      const rejection = await rejectedStatus(send({ ...anonymous }, 'GET', path))
      expect(rejection).to.include({ code: 403, reason: 'Forbidden' })
      expect(rejection.message).to.include('User "system:anonymous" cannot')
    })
  }
})
