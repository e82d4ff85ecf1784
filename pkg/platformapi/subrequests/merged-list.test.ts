import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { Status } from '../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import { createLineReader } from '../../apirequest/request-line.ts'
import { node, replaceAll, servedNodes } from '../../resourcecache/fixtures.ts'
import { platformForm } from '../../resourcecache/list/list-body.ts'
import { ObjectStore } from '../../resourcecache/store/store.ts'
import { createUserTimeSlices } from '../../scheduling/time-slices.ts'
import { ListCollector } from './list-collector.ts'
import { createMergedList } from './merged-list.ts'

const root = '/kapis/resources.kapis.io/v1alpha3'

function storeOfKind(plural: string, names: readonly string[]): ObjectStore {
  const kind = { ...servedNodes.kind, plural, kind: plural }
  const store = new ObjectStore({ ...servedNodes, kind })
  const items = names.map((name, i) => node(name, { created: `2031-05-06T07:08:0${9 - i}Z` }))
  replaceAll(store, items, '10')
  return store
}

describe('createMergedList', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function send(query: string, isCurrent: () => boolean = () => true) {
    const readLine = createLineReader()
    const requests: string[] = []
    const stores = new Map([
      ['deployments', storeOfKind('deployments', ['a', 'd', 'e'])],
      ['statefulsets', storeOfKind('statefulsets', ['a', 'b', 'f'])],
    ])
    const serve = createMergedList({
      root,
      timeSlices: createUserTimeSlices(),
      async collect({ req }, url) {
        requests.push(url)
        const line = readLine('GET', url)
        const store = stores.get(line.info.resource)
        if (store === undefined) throw new Status(403, 'Forbidden', `${line.info.resource} is forbidden`)
        const headers = new ListCollector(req)
        if (line.info.resource === 'statefulsets') headers.setHeader('kapis-narrowed-namespaces', '2')
        const request = { query: parseListQuery(line.query), namespace: '', groupDomain: 'kapis.io' }
        const permissions = { isCurrent, mayStillSee: isCurrent, renew: async () => undefined }
        const visible = { key: 'v', has: () => true, onChange: () => () => undefined, permissions }
        return { list: { store, request, visible, form: platformForm }, headers }
      },
    })
    loopback = await startLoopback(async (req, res) => {
      try {
        await serve(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
    const { code, text } = await loopback.get(`${root}/resources${query}`)
    const body = JSON.parse(text)
    const names = body.items?.map(
      ({ kind, metadata }: { kind: string; metadata: { name: string } }) => `${kind[0]} ${metadata.name}`,
    )
    return { code, body, names, requests }
  }

  const pages: readonly [query: string, names: readonly string[]][] = [
    ['sortBy=name&ascending=true', ['d a', 's a', 's b', 'd d', 'd e', 's f']],
    ['sortBy=name', ['s f', 'd e', 'd d', 's b', 'd a', 's a']],
    ['sortBy=name&ascending=true&limit=2&page=2', ['s b', 'd d']],
    ['sortBy=name&limit=4&page=2', ['d a', 's a']],
    ['limit=2', ['d a', 's a']],
    ['limit=0', []],
    ['limit=2&page=9', []],
  ]
  for (const [query, names] of pages)
    it(`${query} returns ${names.join(', ') || 'nothing'}`, async () => {
      const response = await send(`?kinds=deployments,statefulsets&${query}`)
      expect(response.code).to.equal(200)
      expect(response.names).to.deep.equal(names)
      expect(response.body.totalItems).to.equal(6)
    })

  it('returns for each kind the number of objects, or why none is shown', async () => {
    const { body, requests } = await send('?kinds=deployments,secrets,statefulsets&namespace=shop&name=a')
    const scope = `${root}/namespaces/shop`
    expect(requests).to.deep.equal(
      ['deployments', 'secrets', 'statefulsets'].map(kind => `${scope}/${kind}?name=a`),
    )
    const [deployments, secrets, statefulsets] = body.kinds
    expect(deployments).to.deep.equal({ resource: 'deployments', totalItems: 1 })
    expect(secrets).to.deep.include({ resource: 'secrets' })
    expect(secrets.status).to.include({ kind: 'Status', code: 403, message: 'secrets is forbidden' })
    expect(statefulsets).to.deep.equal({ resource: 'statefulsets', totalItems: 1, namespaces: 2 })
    expect(body.totalItems).to.equal(2)
  })

  it('returns nothing to a caller whose permissions change repeatedly', async () => {
    const { code, body, requests } = await send('?kinds=deployments', () => false)
    expect(code).to.equal(410)
    expect(body.items).to.equal(undefined)
    expect(requests).to.have.length(4)
  })

  it('stops listing when the deadline has ended the response', async () => {
    let requestCount = 0
    const ended = Promise.withResolvers<void>()
    const serve = createMergedList({
      root,
      timeSlices: createUserTimeSlices(),
      async collect({ res }) {
        requestCount++
        res.end('{}')
        throw new Status(503, 'ServiceUnavailable', 'later')
      },
    })
    loopback = await startLoopback((req, res) => {
      ended.resolve(serve(toExchange(req, res)) ?? undefined)
    })
    await loopback.get(`${root}/resources?kinds=pods,services,nodes`)
    await ended.promise
    expect(requestCount).to.equal(1)
  })

  const refused: readonly [query: string, message: string][] = [
    ['', 'kinds is required: plurals joined by commas, such as pods,services'],
    ['?kinds=pods,Pods', 'invalid kinds: "Pods" is not a plural such as pods'],
    ['?kinds=pods&namespace=a/b', 'invalid namespace "a/b": expected the name of a namespace'],
    ['?kinds=pods&watch=true', 'watch is not supported for a list of several kinds; use a list of one kind'],
    [
      '?kinds=pods&resourceVersion=3',
      'resourceVersion is not supported for a list of several kinds; use a list of one kind',
    ],
    [
      '?kinds=pods&clusters=host',
      'clusters is not supported for a list of several kinds; use a list of one kind',
    ],
    ['?kinds=pods&columnSelector=x', "invalid selector: 'x'; can't understand 'x'"],
    ['?kinds=pods&seniority=5', 'invalid seniority "5": expected a number from 0 to 4'],
  ]
  for (const [query, message] of refused)
    it(`rejects ${query || 'no kinds'}`, async () => {
      const { code, body } = await send(query)
      expect(code).to.equal(400)
      expect(body.message).to.equal(message)
    })
})
