import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { entry, node, storeOf } from '../../resourcecache/fixtures.ts'
import { platformForm } from '../../resourcecache/list/list-body.ts'
import { createTimeSlices } from '../../scheduling/time-slices.ts'
import { ListCollector } from './list-collector.ts'
import { restrictToOwner } from './owners.ts'

type Owner = readonly [kind: string, uid: string]

const owned = (name: string, ...owners: readonly Owner[]) => ({
  meta: {
    uid: `uid-${name}`,
    ownerReferences: owners.map(([kind, uid]) => ({ apiVersion: 'apps/v1', kind, name: uid, uid })),
  },
})
const slices = createTimeSlices()
const among = (count: number) => Array.from({ length: count }, (_, i) => i)

describe('restrictToOwner', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function exchangeOf(path: string): Promise<AuthenticatedExchange> {
    const { promise, resolve } = Promise.withResolvers<AuthenticatedExchange>()
    loopback = await startLoopback((req, res) => resolve(toExchange(req, res)))
    loopback.get(path).catch(() => undefined)
    return promise
  }

  const kinds: Readonly<Record<string, readonly (readonly [name: string, ...owners: readonly Owner[]])[]>> = {
    ReplicaSet: [
      ['rs', ['Deployment', 'uid-d']],
      ['old', ['Deployment', 'uid-d']],
      ['loop', ['ReplicaSet', 'uid-loop']],
    ],
    // Each object is owned by all objects of the layer above, which results in 80³ paths.
    Layer: [1, 2, 3].flatMap(layer =>
      among(80).map(
        i =>
          [
            `l${layer}-${i}`,
            ...(layer === 1
              ? [['Layer', 'uid-top'] as const]
              : among(80).map(j => ['Layer', `uid-l${layer - 1}-${j}`] as const)),
          ] as const,
      ),
    ),
    Deployment: [['d', ['Application', 'uid-app']]],
    Application: [],
  }

  async function find(uid: string, seniority: number, hidden: readonly string[] = [], isEnded = false) {
    const requests: string[] = []
    const entries = [
      entry('pod', owned('pod', ['ReplicaSet', 'uid-rs'])),
      entry('direct', owned('direct', ['Deployment', 'uid-d'])),
      entry('other', owned('other', ['ReplicaSet', 'uid-loop'])),
      entry('alone'),
      entry('many', owned('many', ['Layer', 'uid-l3-0'])),
    ]
    const exchange = await exchangeOf('/kapis/resources.kapis.io/v1alpha3/namespaces/shop/pods')
    const { restriction, warnings } = await restrictToOwner(
      {
        async findByKind(group, kind) {
          if (!(kind in kinds)) return undefined
          const plural = `${kind.toLowerCase()}s`
          const source = { group, version: 'v1', path: `/apis/${group}/v1/${plural}` }
          return { ...entry('a').served.kind, plural, kind, namespaced: true, source }
        },
        async collect({ req, res }, url) {
          requests.push(url)
          if (isEnded) res.destroy()
          const [kind = ''] = Object.keys(kinds).filter(name => url.endsWith(`/${name.toLowerCase()}s`))
          if (hidden.includes(kind)) throw new Status(403, 'Forbidden', `${kind} is forbidden`)
          const items = (kinds[kind] ?? []).map(([name, ...owners]) => node(name, owned(name, ...owners)))
          const query = parseListQuery(new QueryParameters(''))
          const request = { query, namespace: '', groupDomain: 'kapis.io' }
          const list = { store: storeOf(items), request, visible: undefined, form: platformForm }
          return { list, headers: new ListCollector(req) }
        },
      },
      exchange,
      { entries, matches: () => true, uid, seniority, timeSlices: slices },
    )
    return { names: entries.filter(restriction.matches).map(({ name }) => name), warnings, requests }
  }

  const table: readonly [uid: string, seniority: number, names: readonly string[]][] = [
    ['uid-d', 1, ['pod', 'direct']],
    ['uid-rs', 1, ['pod']],
    ['uid-app', 1, ['direct']],
    ['uid-app', 2, ['pod', 'direct']],
    ['uid-loop', 4, ['other']],
    ['uid-nothing', 4, []],
  ]
  for (const [uid, seniority, names] of table)
    it(`returns ${names.join(', ') || 'nothing'} of ${uid} through ${seniority}`, async () => {
      const found = await find(uid, seniority)
      expect(found.names).to.deep.equal(names)
      expect(found.warnings).to.deep.equal([])
    })

  it('returns an object once, with any number of paths to its owner', async () => {
    const { names } = await find('uid-top', 4)
    expect(names).to.deep.equal(['many'])
  })

  it('lists each owner kind once, in the namespace of the request', async () => {
    const { requests } = await find('uid-loop', 4)
    expect(requests).to.deep.equal([
      '/kapis/apps/v1/namespaces/shop/replicasets',
      '/kapis/apps/v1/namespaces/shop/deployments',
      '/kapis/apps/v1/namespaces/shop/layers',
      '/kapis/apps/v1/namespaces/shop/applications',
    ])
  })

  it('stops listing when the client disconnects', async () => {
    expect((await find('uid-loop', 4, [], true)).requests).to.have.length(1)
  })

  it('names the owners that the caller may not list', async () => {
    const { names, warnings } = await find('uid-d', 1, ['ReplicaSet'])
    expect(names).to.deep.equal(['direct'])
    expect(warnings).to.deep.equal(['owners of kind ReplicaSet are skipped: ReplicaSet is forbidden'])
  })
})
