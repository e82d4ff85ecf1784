import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { jane } from '../../apirequest/fixtures.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { parseLine } from '../../apirequest/request-line.ts'
import { defaults } from '../../config/fixtures.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { createMembers } from './member-clusters.ts'

describe('createMembers', () => {
  const requests: string[] = []
  const unused = async () => {
    throw new Error('not asked')
  }
  const members = createMembers({
    client: { call: unused, stream: unused, close: () => undefined },
    config: { ...defaults, groupDomain: 'kubesphere.io' },
    access: {
      authorize({ verb, group, resource, subresource, name, namespace }, { username }) {
        requests.push([username, verb, group, resource, subresource, namespace, name].join(' '))
        if (name === 'forbidden') throw new Status(403, 'Forbidden', 'no')
      },
    },
    recordings: {
      assertNotBypassed({ info }) {
        if (info.subresource === 'attach') throw new Status(403, 'Forbidden', 'recorded')
      },
    },
    logger: createLogger({ program: 'test', level: 'error' }),
  })
  const served: string[] = []
  const host = (what: string) => (exchange: AuthenticatedExchange) =>
    void served.push(`${what} ${exchange.info.path}`)
  const over = members.over({
    attributesOf: ({ info }) => info,
    authorize: host('authorize'),
    isProxied: () => false,
    route: host('route'),
    upgrade: host('upgrade'),
  })
  beforeEach(() => {
    requests.length = 0
    served.length = 0
  })

  function toExchange(target: string, changes: Partial<AuthenticatedExchange> = {}): AuthenticatedExchange {
    const [method = '', url = ''] = target.split(' ')
    const line = parseLine(method, url, undefined, 'all')
    const pair = { req: { method, url, headers: {} }, res: {} } as unknown as Pick<
      AuthenticatedExchange,
      'req' | 'res'
    >
    return { ...pair, id: 'id-1', ...line, identity: jane, isAggregated: false, ...changes }
  }
  async function errorFrom(run: () => unknown): Promise<unknown> {
    try {
      await run()
    } catch (error) {
      return error instanceof Status ? [error.code, error.message] : error
    }
    return undefined
  }

  it('requires permission to proxy to the Cluster, for every request to a member', async () => {
    for (const target of [
      'GET /clusters/m/api/v1/pods',
      'DELETE /apis/clusters/m/apps/v1/namespaces/a/deployments/b',
      'GET /clusters/m/version',
      'GET /kapis/clusters/m/version',
    ]) {
      await over.authorize(toExchange(target))
      expect(requests.splice(0)).to.deep.equal(['jane proxy cluster.kubesphere.io clusters   m'])
    }
    const refused = await errorFrom(() => over.authorize(toExchange('GET /clusters/forbidden/api')))
    expect(refused).to.deep.equal([403, 'no'])
    expect(await over.attributesOf(toExchange('GET /clusters/m/api/v1/pods'))).to.include({
      ...{ verb: 'proxy', group: 'cluster.kubesphere.io', resource: 'clusters', name: 'm', cluster: '' },
    })
    expect(served).to.deep.equal([])
  })

  it('enforces token scopes and session recording', async () => {
    const readOnly: Identity = { ...jane, isReadOnly: true }
    const pod = '/clusters/m/api/v1/namespaces/a/pods/p'
    const cases: readonly (readonly [string, Partial<AuthenticatedExchange>])[] = [
      ['POST /clusters/m/api/v1/namespaces/a/pods', { identity: readOnly }],
      ['GET /clusters/m/api/v1/secrets', { identity: readOnly }],
      [`GET ${pod}/exec`, { identity: readOnly }],
      ['GET /clusters/m/api/v1/pods', { identity: readOnly, upgrade: Buffer.alloc(0) }],
      [
        'GET /kapis/clusters/m/resources.kubesphere.io/v1alpha3/resources?kinds=secrets',
        { identity: readOnly },
      ],
      ['GET /clusters/m/kapi/resources.kubesphere.io/v1alpha3/resources', { identity: readOnly }],
      [`GET ${pod}/attach`, { upgrade: Buffer.alloc(0) }],
    ]
    for (const [target, changes] of cases) {
      const [code] = [await errorFrom(() => over.authorize(toExchange(target, changes)))].flat()
      expect(code, target).to.equal(403)
    }
    expect(requests).to.deep.equal([])
    await over.authorize(toExchange('GET /clusters/m/api/v1/pods', { identity: readOnly }))
    expect(requests).to.have.length(1)
  })

  it('validates a Cluster after the request was authorized like its creation', async () => {
    const path = '/kapis/cluster.kubesphere.io/v1alpha1/clusters/validation'
    await over.authorize(toExchange(`POST ${path}`))
    expect(served.splice(0)).to.deep.equal([`authorize ${path}`])
    const refused = await errorFrom(() => over.route(toExchange(`POST ${path}`)))
    expect(refused).to.deep.equal([415, 'the body must be application/json'])
    await over.route(toExchange(`GET ${path}`))
    expect(served).to.deep.equal([`route ${path}`])
  })

  it('routes every request to a member to the proxy, and no others', async () => {
    for (const [serve, what] of [
      [over.route, 'route'],
      [over.upgrade, 'upgrade'],
      [over.authorize, 'authorize'],
    ] as const) {
      await serve(toExchange('GET /clusters/host/api/v1/pods'))
      expect(served.splice(0)).to.deep.equal([`${what} /api/v1/pods`])
      if (what === 'authorize') continue
      const refused = await errorFrom(() => serve(toExchange('GET /clusters/m/kapis/version')))
      expect(refused).to.deep.equal([503, 'the clusters have not been read yet; retry later'])
      expect(served).to.deep.equal([])
    }
    expect(over.isProxied(toExchange('GET /clusters/m/kapis/version'))).to.equal(true)
    expect(over.isProxied(toExchange('GET /kapis/version'))).to.equal(false)
  })

  it('lists only with the permissions of a single request', async () => {
    const target = 'GET /clusters/m/kapis/resources.kubesphere.io/v1alpha3/pods'
    const limits = { maxBytes: 1, signal: AbortSignal.timeout(1_000) }
    await members.authorize(toExchange(target))
    expect(requests).to.deep.equal(['jane proxy cluster.kubesphere.io clusters   m'])
    const readOnly: Identity = { ...jane, isReadOnly: true }
    const [code] = [
      await errorFrom(() => members.authorize(toExchange(target, { identity: readOnly }))),
    ].flat()
    expect(code).to.equal(403)
    const unread = [503, 'the clusters have not been read yet; retry later']
    expect(await errorFrom(() => members.list(toExchange(target), limits))).to.deep.equal(unread)
    expect(await errorFrom(() => members.usable(jane))).to.deep.equal(unread)
  })
})
