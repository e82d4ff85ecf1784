import { once } from 'node:events'
import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { Status, unavailable } from '../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import { createLineReader } from '../../apirequest/request-line.ts'
import { node, servedNodes, storeOf } from '../../resourcecache/fixtures.ts'
import { platformForm } from '../../resourcecache/list/list-body.ts'
import { createUserTimeSlices } from '../../scheduling/time-slices.ts'
import { createClusterList, isForClusters } from './cluster-list.ts'
import { ListCollector } from './list-collector.ts'

const path = '/kapis/resources.kapis.io/v1alpha3/nodes'
const ofThings = '/kapis/resources.kapis.io/v1alpha3/things'
const nodes = (names: readonly string[]) =>
  names.map((name, i) => node(name, { created: `2031-05-06T07:08:0${9 - i}Z` }))

const things = (names: readonly string[], apiVersion = 'example.io/v1') =>
  names.map(name => ({ ...node(name), apiVersion, kind: 'Thing' }))

type ClusterPart = {
  readonly cluster: string
  readonly totalItems?: number
  readonly status?: { readonly code: number; readonly message: string }
}

describe('createClusterList', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  const here = nodes(['a', 'd', 'e'])
  const there: Readonly<Record<string, () => unknown>> = {
    east: () => ({ items: nodes(['a', 'b']), totalItems: 2 }),
    west: () => {
      throw unavailable('the cluster "west" is not ready: it is down')
    },
    large: () => ({ items: Array.from({ length: 1_000 }, (_, i) => node(`n${i}`)), totalItems: 4_000 }),
    short: () => ({ items: nodes(['a']), totalItems: 2 }),
    fewer: () => ({ items: nodes(['a']), totalItems: -1 }),
    uncountable: () => ({ items: nodes(['a']), totalItems: Number.POSITIVE_INFINITY }),
    strange: () => ({ items: 'x', totalItems: 1 }),
    crds: () => ({ items: things(['a', 'b']), totalItems: 2 }),
    empty: () => ({ items: [], totalItems: 0 }),
    nameless: () => ({ items: nodes(['a']).map(({ kind, ...rest }) => rest), totalItems: 1 }),
    numbers: () => ({ items: [1, null], totalItems: 2 }),
    unnamed: () => ({ items: [node('')], totalItems: 1 }),
    climbing: () => ({ items: nodes(['..']), totalItems: 1 }),
    nested: () => ({ items: nodes(['a/../../b']), totalItems: 1 }),
    encoded: () => ({ items: nodes(['a%2fb']), totalItems: 1 }),
    traversing: () => ({ items: things(['a'], '../../v1'), totalItems: 1 }),
    absent: () => {
      throw new Status(404, 'NotFound', 'resource "things" is not supported')
    },
    forbidden: () => {
      throw new Status(403, 'Forbidden', 'no')
    },
  }

  async function send(query: string, isCurrent: () => boolean = () => true) {
    const readLine = createLineReader()
    const requests: string[] = []
    let reserved = 0
    const serve = createClusterList({
      groupDomain: 'kapis.io',
      timeSlices: createUserTimeSlices(),
      kindOf: async plural => (plural === 'nodes' ? servedNodes.kind : undefined),
      usableMembers: async () => ['east', 'west'],
      reserve() {
        reserved++
        return { leave: () => void reserved-- }
      },
      async readInMember(_exchange, res, { cluster, url, maxBytes, signal }) {
        requests.push(`${cluster} ${url}`)
        expect(maxBytes).to.be.within(1, 16 * 1024 * 1024)
        expect(signal.aborted).to.equal(false)
        if (cluster === 'slow') {
          await once(signal, 'abort')
          throw new Status(504, 'Timeout', 'the Kapis of the cluster "slow" did not respond in time')
        }
        const list = there[cluster]?.()
        if (cluster === 'east') res.setHeader('kapis-narrowed-namespaces', '2')
        const { items } = list as { items: readonly object[] }
        // Numbers and the order of fields are those of the text.
        const sources = [...items].map(item => JSON.stringify(item).replace(/}$/, ',"spec":{"n":1.0}}'))
        return { list, sources }
      },
      async collect({ req }, url) {
        requests.push(`host ${url}`)
        const request = {
          query: parseListQuery(readLine('GET', url).query),
          namespace: '',
          groupDomain: 'kapis.io',
        }
        const permissions = { isCurrent, mayStillSee: isCurrent, renew: async () => undefined }
        const visible = { key: 'v', has: () => true, onChange: () => () => undefined, permissions }
        return {
          list: { store: storeOf(here), request, visible, form: platformForm },
          headers: new ListCollector(req),
        }
      },
    })
    loopback = await startLoopback(async (req, res) => {
      try {
        await serve(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
    const { code, text, headers } = await loopback.get(`${query.startsWith('/') ? '' : path}${query}`)
    const body = JSON.parse(text)
    const names = body.items?.map(
      ({
        metadata: { name, annotations },
      }: {
        metadata: { name: string; annotations: Record<string, string> }
      }) => `${annotations['kapis.io/cluster']} ${name}`,
    )
    expect(reserved).to.equal(0)
    return { code, body, names, requests, text, warning: headers.warning }
  }

  const pages: readonly [query: string, names: readonly string[], total: number][] = [
    ['clusters=host,east&sortBy=name&ascending=true', ['host a', 'east a', 'east b', 'host d', 'host e'], 5],
    ['clusters=east,host&sortBy=name&ascending=true', ['east a', 'host a', 'east b', 'host d', 'host e'], 5],
    ['clusters=host,east&sortBy=name', ['host e', 'host d', 'east b', 'host a', 'east a'], 5],
    ['clusters=host,east&sortBy=name&ascending=true&limit=2&page=2', ['east b', 'host d'], 5],
    ['clusters=host,east&limit=2', ['host a', 'east a'], 5],
    ['clusters=east&limit=1', ['east a'], 2],
    ['clusters=host,east&limit=0', [], 5],
    ['clusters=host,east&limit=2&page=9', [], 5],
    ['clusters=host,east,east&fields=metadata.name&sortBy=name&limit=2', ['host e', 'host d'], 5],
  ]
  for (const [query, names, total] of pages)
    it(`${query} is ${names.join(', ') || 'empty'}`, async () => {
      const response = await send(`?${query}`)
      expect(response.body.message).to.equal(undefined)
      expect(response.names).to.deep.equal(names)
      expect([response.code, response.body.totalItems, response.warning]).to.deep.equal([
        200,
        total,
        undefined,
      ])
    })

  it('requests from each cluster the objects up to the end of the page', async () => {
    const { requests, body } = await send(
      '?clusters=host,east&name=a&page=2&limit=3&fields=metadata.name&sortBy=name',
    )
    expect(requests).to.deep.equal([
      `east ${path}?name=a&sortBy=name&limit=6`,
      `host ${path}?name=a&sortBy=name&limit=6`,
    ])
    expect(body.clusters).to.deep.equal([
      { cluster: 'host', totalItems: 1 },
      { cluster: 'east', totalItems: 2, namespaces: 2 },
    ])
  })

  it('returns the objects of a member as it sent them, with their cluster', async () => {
    const { text, body } = await send('?clusters=east&limit=1')
    expect(text).to.include('"spec":{"n":1.0}}')
    expect(body.items[0].metadata.selfLink).to.equal('/clusters/east/api/v1/nodes/a')
    const [projected] = (await send('?clusters=host&fields=metadata.name')).body.items
    expect(projected).to.deep.equal({ metadata: { name: 'a', annotations: { 'kapis.io/cluster': 'host' } } })
  })

  it('reports a cluster whose list is missing', async () => {
    const { code, body, names, warning } = await send('?clusters=*&sortBy=name&ascending=true')
    expect([code, names, body.totalItems]).to.deep.equal([
      200,
      ['host a', 'east a', 'east b', 'host d', 'host e'],
      5,
    ])
    expect(body.clusters.map(({ cluster }: { cluster: string }) => cluster)).to.deep.equal([
      'host',
      'east',
      'west',
    ])
    expect(body.clusters[2].status).to.include({ kind: 'Status', code: 503 })
    expect(warning).to.equal(
      '299 - "cluster \\"west\\" is missing: the cluster \\"west\\" is not ready: it is down"',
    )
  })

  it('lists a kind that only member clusters serve', async () => {
    const { code, body, names, requests, warning } = await send(
      `${ofThings}?clusters=host,empty,crds,absent&sortBy=name&ascending=true`,
    )
    expect([code, names, body.totalItems]).to.deep.equal([200, ['crds a', 'crds b'], 2])
    expect(requests.map(line => line.split(' ')[0])).to.have.members(['empty', 'crds', 'absent'])
    expect(body.items[0]).to.deep.include({ kind: 'Thing', apiVersion: 'example.io/v1' })
    expect(body.items[0].metadata.selfLink).to.equal('/clusters/crds/apis/example.io/v1/things/a')
    const clusters = body.clusters.map(({ cluster, totalItems, status }: ClusterPart) => [
      cluster,
      totalItems ?? `${status?.code} ${status?.message}`,
    ])
    const missing = '404 resource "things" is not supported'
    expect(clusters).to.deep.equal([
      ['host', missing],
      ['empty', 0],
      ['crds', 2],
      ['absent', missing],
    ])
    expect(warning).to.equal(
      ['host', 'absent']
        .map(name => `299 - "cluster \\"${name}\\" is missing: resource \\"things\\" is not supported"`)
        .join(', '),
    )
  })

  it('returns the lists of the other clusters when a slow one exceeds its time limit', async () => {
    const timeoutOf = AbortSignal.timeout
    const given: number[] = []
    AbortSignal.timeout = ms => {
      given.push(ms)
      return timeoutOf.call(AbortSignal, 30)
    }
    try {
      const { code, names, body } = await send('?clusters=slow,east,host&sortBy=name&ascending=true')
      expect(code).to.equal(200)
      expect(given).to.deep.equal([10_000])
      expect(names).to.deep.equal(['east a', 'host a', 'east b', 'host d', 'host e'])
      expect(body.clusters[0].status.code).to.equal(504)
    } finally {
      AbortSignal.timeout = timeoutOf
    }
  })

  it('reports a member that sends no list, less than it has, or no objects', async () => {
    const { body } = await send(
      '?clusters=host,short,fewer,uncountable,strange,numbers,unnamed,climbing,nested,encoded',
    )
    const messages = body.clusters.slice(1).map(({ status }: { status: Status }) => status.message)
    expect(messages).to.deep.equal(Array(9).fill('the response is not a platform list'))
  })

  it('reports that it contains only the first objects', async () => {
    const { body, warning } = await send('?clusters=large,host')
    expect([body.items.length, body.totalItems]).to.deep.equal([1_000, 4_003])
    expect(warning).to.equal('299 - "only the first 1000 of 4003 objects are included; use filters"')
  })

  const refused: readonly (readonly [query: string, code: number, message: string])[] = [
    ['?clusters=absent,west', 503, 'the cluster "west" is not ready: it is down'],
    ['?clusters=west,forbidden', 503, 'the cluster "west" is not ready: it is down'],
    ['?clusters=forbidden,west', 403, 'no'],
    [
      '?clusters=east&watch=true',
      400,
      'watch is not supported with clusters; send a request to each cluster',
    ],
    [
      '?clusters=east&resourceVersion=3',
      400,
      'resourceVersion is not supported with clusters; send a request to each cluster',
    ],
    ['?clusters=east,,b', 400, 'invalid clusters: ""; expected names of clusters separated by commas, or *'],
    ['?clusters=a/b', 400, 'invalid clusters: "a/b"; expected names of clusters separated by commas, or *'],
    [
      `?clusters=${Array.from({ length: 33 }, (_, i) => `c${i}`)}`,
      400,
      'clusters has 33 names; at most 32 are allowed',
    ],
    [
      '?clusters=east&limit=100&page=11',
      400,
      'page 11 with limit 100 exceeds the first 1000 objects, the limit of a list over clusters; use filters',
    ],
    ['?clusters=east&columnSelector=x', 400, "invalid selector: 'x'; can't understand 'x'"],
    ...['components', 'registrysecrets'].map(
      resource =>
        [
          `/kapis/resources.kapis.io/v1alpha3/${resource}?clusters=east`,
          400,
          `clusters is not supported for ${resource}; send a request to each cluster`,
        ] as const,
    ),
    [`${ofThings}?clusters=host,absent`, 404, 'resource "things" is not supported'],
    [`${ofThings}?clusters=host,west`, 503, 'the cluster "west" is not ready: it is down'],
    [`${ofThings}?clusters=host,forbidden`, 403, 'no'],
    [`${ofThings}?clusters=nameless`, 503, 'the response is not a platform list'],
    [`${ofThings}?clusters=traversing`, 503, 'the response is not a platform list'],
  ]
  for (const [query, code, message] of refused)
    it(`rejects ${query.slice(0, 60)}`, async () => {
      const response = await send(query)
      expect([response.code, response.body.message]).to.deep.equal([code, message])
    })

  it('shows nothing to a caller whose permissions change repeatedly', async () => {
    const { code, requests } = await send('?clusters=east,host', () => false)
    expect(code).to.equal(410)
    expect(requests.filter(text => text.startsWith('east'))).to.have.length(1)
  })

  const lists: readonly [url: string, isOne: boolean][] = [
    [`${path}?clusters=host`, true],
    [`${path}?clusters=host&watch=true`, true],
    ['/kapi/resources.kapis.io/v1alpha3/namespaces/a/pods?clusters=*', true],
    [`${path}?clusters=`, false],
    [path, false],
    [`${path}/a?clusters=host`, false],
  ]
  for (const [url, isOne] of lists)
    it(`${url} is ${isOne ? 'a list' : 'no list'} over clusters`, () => {
      const exchange = { ...createLineReader()('GET', url) } as Parameters<typeof isForClusters>[0]
      expect(isForClusters(exchange)).to.equal(isOne)
    })
})
