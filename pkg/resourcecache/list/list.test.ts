import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { createTimeSlices } from '../../scheduling/time-slices.ts'
import { createRandom, event, node, storeOf } from '../fixtures.ts'
import type { CachedObject } from '../store/cached-object.ts'
import { entriesOf } from '../store/chunk.ts'
import type { ObjectStore } from '../store/store.ts'
import { listPage, listPageAt, type Page } from './list.ts'
import { joinRestrictions } from './list-predicate.ts'

function page(store: ObjectStore, query: string, namespace = '') {
  const parsed = parseListQuery(new QueryParameters(query))
  const listed = listPage(store, { query: parsed, namespace, groupDomain: 'kapis.io' }, createTimeSlices())
  if (listed instanceof Promise) throw new Error('nothing has to be read for this query')
  return toShown(listed)
}

async function pageLater(store: ObjectStore, query: string) {
  const parsed = parseListQuery(new QueryParameters(query))
  return toShown(
    await listPage(store, { query: parsed, namespace: '', groupDomain: 'kapis.io' }, createTimeSlices()),
  )
}

function toShown({ selection, total }: Page) {
  return { names: [...entriesOf(selection)].map(({ name }) => name), total }
}

const ready = { conditions: [{ type: 'Ready', status: 'True' }] }
const sample = [
  node('web-1', {
    created: '2031-01-01T00:00:00Z',
    labels: { app: 'web', zone: 'a' },
    annotations: { 'kapis.io/alias-name': 'Front one', team: 'red' },
    status: ready,
  }),
  node('web-2', {
    created: '2031-01-03T00:00:00Z',
    labels: { app: 'web', zone: 'b' },
    annotations: { 'other.io/alias-name': 'Front two', team: 'blue' },
    spec: { unschedulable: true },
  }),
  node('db-1', {
    created: '2031-01-02T00:00:00Z',
    labels: { app: 'db' },
    status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
    meta: { ownerReferences: [{ kind: 'Machine', name: 'm', uid: 'o-1' }] },
  }),
  node('db-2', { created: '2031-01-03T00:00:00Z', status: ready }),
]

describe('listPage', () => {
  const store = storeOf(sample)

  const filters: readonly [string, readonly string[]][] = [
    ['', ['db-1', 'db-2', 'web-1', 'web-2']],
    ['name=web', ['web-1', 'web-2']],
    ['name=-1', ['db-1', 'web-1']],
    ['name=WEB', []],
    ['name=', ['db-1', 'db-2', 'web-1', 'web-2']],
    ['name=.', []],
    ['names=web-1,db-2', ['db-2', 'web-1']],
    ['names=web', []],
    ['names=web-1, db-2', ['web-1']],
    ['alias=Front', ['web-1']],
    ['alias=front', []],
    ['uid=uid-db-1', ['db-1']],
    ['uid=uid-db', []],
    ['namespace=x', []],
    ['ownerReference=o-1', ['db-1']],
    ['ownerReference=m', []],
    ['ownerKind=Machine', ['db-1']],
    ['annotation=team%3Dred', ['web-1']],
    ['annotation=team', ['web-1', 'web-2']],
    ['annotation=!team', ['db-1', 'db-2']],
    ['label=app%3Dweb', ['web-1', 'web-2']],
    ['label=app in (web,db),zone!%3Da', ['db-1', 'web-2']],
    ['labelSelector=!app', ['db-2']],
    ['labelSelector=app&label=zone', ['web-1', 'web-2']],
    ['status=running', ['db-2', 'web-1']],
    ['status=warning', ['db-1']],
    ['status=unschedulable', ['web-2']],
    ['status=running&name=web', ['web-1']],
    ['q=web', ['web-1', 'web-2']],
    ['q=WEB+-2', ['web-1']],
    ['q=front', ['web-1', 'web-2']],
    ['q="front one"', ['web-1']],
    ['q=team%3Dblue', ['web-2']],
    ['q=db -1', ['db-2']],
    ['q=-zone', ['db-1', 'db-2']],
    ['q=""', ['db-1', 'db-2', 'web-1', 'web-2']],
    ['q=nothing', []],
  ]
  for (const [query, expected] of filters) {
    it(`with ?${query} returns ${expected.join(', ') || 'nothing'}`, () => {
      expect(page(store, `${query}&sortBy=name&ascending=true`)).to.deep.equal({
        names: expected,
        total: expected.length,
      })
    })
  }

  const orders: readonly [string, readonly string[]][] = [
    // Newest first. Objects with the same time are sorted by name, also in descending order.
    ['', ['web-2', 'db-2', 'db-1', 'web-1']],
    ['ascending=true', ['web-1', 'db-1', 'db-2', 'web-2']],
    ['sortBy=createTime', ['web-2', 'db-2', 'db-1', 'web-1']],
    ['sortBy=creationTimestamp&ascending=1', ['web-1', 'db-1', 'db-2', 'web-2']],
    ['sortBy=name', ['web-2', 'web-1', 'db-2', 'db-1']],
    ['sortBy=name&ascending=true', ['db-1', 'db-2', 'web-1', 'web-2']],
    ['sortBy=status&ascending=true', ['db-2', 'web-1', 'web-2', 'db-1']],
    ['sortBy=updateTime', ['web-2', 'db-2', 'db-1', 'web-1']],
    ['sortBy=lastUpdateTimestamp&ascending=true', ['web-1', 'db-1', 'db-2', 'web-2']],
  ]
  for (const [query, expected] of orders) {
    it(`with ?${query} sorts as ${expected.join(', ')}`, () => {
      expect(page(store, query).names).to.deep.equal(expected)
    })
  }

  const pages: readonly [string, readonly string[]][] = [
    ['limit=3', ['db-1', 'db-2', 'web-1']],
    ['limit=3&page=2', ['web-2']],
    ['limit=3&page=3', []],
    ['limit=2&page=2', ['web-1', 'web-2']],
    ['limit=4&page=2', []],
    ['limit=0', []],
    ['limit=0&page=2', []],
    ['limit=-1', ['db-1', 'db-2', 'web-1', 'web-2']],
    ['limit=-1&page=7', ['db-1', 'db-2', 'web-1', 'web-2']],
    ['page=2', ['db-1', 'db-2', 'web-1', 'web-2']],
    ['limit=999999999&page=999999999', []],
  ]
  for (const [query, expected] of pages) {
    it(`with ?${query} returns the page ${expected.join(', ') || 'without items'} of four`, () => {
      expect(page(store, `${query}&sortBy=name&ascending=true`)).to.deep.equal({
        names: expected,
        total: 4,
      })
    })
  }

  it('is restricted to a namespace, with any filter', () => {
    expect(page(store, 'sortBy=name', 'x')).to.deep.equal({ names: [], total: 0 })
    const mixed = storeOf([node('a', { meta: { namespace: 'x' } }), node('b', { meta: { namespace: 'y' } })])
    expect(page(mixed, '', 'x').names).to.deep.equal(['a'])
    expect(page(mixed, '', 'y').names).to.deep.equal(['b'])
    expect(page(mixed, 'namespace=y', 'x').names).to.deep.equal([])
    expect(page(mixed, 'namespace=y').names).to.deep.equal(['b'])
  })

  const looked: readonly [string, readonly string[]][] = [
    ['fieldSelector=metadata.name%3Dweb-1', ['web-1']],
    ['fieldSelector=metadata.name!%3Dweb-1', ['db-1', 'db-2', 'web-2']],
    ['fieldSelector=spec.unschedulable%3Dtrue', ['web-2']],
    // A missing field matches neither `=` nor `!=`, except in a test for an empty value.
    ['fieldSelector=spec.unschedulable!%3Dfalse', ['web-2']],
    ['fieldSelector=spec.unschedulable%3D', ['db-1', 'db-2', 'web-1']],
    ['fieldSelector=status.conditions[0].status%3DUnknown', ['db-1']],
    ['fieldSelector=status.conditions[*].type%3DReady,metadata.labels.app%3Dweb', ['web-1']],
    ["fieldSelector=metadata.annotations['kapis.io/alias-name']%3DFront one", ['web-1']],
    ['fieldSelector=status.conditions%3DReady', []],
    ['fieldSelector=constructor.name%3DObject', []],
    ['sortBy=.metadata.labels.app', ['db-2', 'db-1', 'web-1', 'web-2']],
    ['sortBy={.metadata.ownerReferences[0].uid}', ['db-2', 'web-1', 'web-2', 'db-1']],
    ['sortBy=$.spec.unschedulable', ['db-1', 'db-2', 'web-1', 'web-2']],
  ]
  for (const [query, expected] of looked) {
    it(`with ?${query} filters by object fields`, async () => {
      const sorted = query.includes('sortBy') ? query : `${query}&sortBy=name`
      expect(await pageLater(store, `${sorted}&ascending=true`)).to.deep.equal({
        names: expected,
        total: expected.length,
      })
    })
  }

  it('sorts amounts in any unit', async () => {
    const sized = ['9Mi', '1Gi', '500', '10k', '1.5', 'none', undefined].map((memory, i) =>
      node(`n${i}`, { status: { capacity: { memory } } }),
    )
    const { names } = await pageLater(storeOf(sized), 'sortBy=.status.capacity.memory&ascending=true')
    expect(names).to.deep.equal(['n6', 'n4', 'n2', 'n3', 'n0', 'n1', 'n5'])
  })

  it('keeps an order by object fields up to date', async () => {
    const live = storeOf([node('a', { spec: { rank: 1 } }), node('b', { spec: { rank: 2 } })])
    const names = async () => (await pageLater(live, 'sortBy=.spec.rank&ascending=true')).names
    expect(await names()).to.deep.equal(['a', 'b'])
    live.apply([event('MODIFIED', node('a', { version: 11, spec: { rank: 3 } }))])
    live.apply([event('ADDED', node('c', { version: 12, spec: { rank: 2.5 } }))])
    expect(await names()).to.deep.equal(['b', 'c', 'a'])
  })

  it('applies a filter that is not in the query', () => {
    const parsed = parseListQuery(new QueryParameters('sortBy=name&ascending=true'))
    const narrowed = (key: string, namespace: string) =>
      listPage(
        store,
        {
          query: parsed,
          namespace: '',
          groupDomain: 'kapis.io',
          narrowing: { key, matches: entry => entry.name === namespace },
        },
        createTimeSlices(),
      )
    for (const name of ['web-1', 'db-2']) {
      const listed = narrowed(name, name)
      if (listed instanceof Promise) throw new Error('nothing has to be read')
      expect(toShown(listed)).to.deep.equal({ names: [name], total: 1 })
    }
  })

  const allowed =
    'alias, annotation, label, name, names, namespace, ownerKind, ownerReference, q, status, uid'
  const unknownFilter = (key: string) =>
    `unknown filter ${JSON.stringify(key)} for nodes; supported filters: ${allowed}`
  const unknownSort = (key: string) =>
    `sortBy must be one of name, namespace, createTime, creationTimestamp, updateTime, lastUpdateTimestamp, status, or a path such as .spec.nodeName, not ${JSON.stringify(key)}`
  const refused: readonly [string, string][] = [
    ['color=red', unknownFilter('color')],
    ['fieldselector=a', unknownFilter('fieldselector')],
    [
      'sortBy=.a..b',
      'sortBy ".a..b" is invalid at position 2: expected a path such as .spec.nodeName, .status.conditions[0].type or .metadata.labels[\'a.b/c\']',
    ],
    ['fieldSelector=a', "invalid selector: 'a'; can't understand 'a'"],
    ['q="web', 'q "\\"web" has an unterminated quote'],
    ['Name=web', unknownFilter('Name')],
    ['constructor=x', unknownFilter('constructor')],
    ['toString=x', unknownFilter('toString')],
    ['__proto__=x', unknownFilter('__proto__')],
    ['status=Running', 'status must be one of unschedulable, warning, running, not "Running"'],
    ['sortBy=startTime', unknownSort('startTime')],
    ['sortBy=__proto__', unknownSort('__proto__')],
    [
      'label=a b',
      'label "a b" cannot be parsed: invalid requirement "a b": expected key=value, key in (a,b), key or !key',
    ],
    ['annotation=a%3D-', 'annotation "a=-" cannot be parsed: "-" is not a valid label value'],
    [
      'labelSelector=%3D',
      'labelSelector "=" cannot be parsed: invalid requirement "=": expected key=value, key in (a,b), key or !key',
    ],
  ]
  for (const [query, message] of refused) {
    it(`rejects ?${query}`, () => {
      expect(thrownFields(() => page(store, query))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message,
      })
    })
  }

  it('returns the same for filters in any order', () => {
    expect(page(store, 'name=web&status=running')).to.deep.equal(page(store, 'status=running&name=web'))
  })

  it('remains correct as objects are added and removed', () => {
    const random = createRandom(9)
    const live = storeOf([])
    const names = new Map<string, string>()
    for (let version = 11; version < 1500; version++) {
      const name = `n${random(80)}`
      const zone = random(2) ? 'a' : 'b'
      const isDeletion = names.has(name) && random(3) === 0
      const object = node(name, { version, labels: { zone } })
      live.apply([event(isDeletion ? 'DELETED' : names.has(name) ? 'MODIFIED' : 'ADDED', object)])
      if (isDeletion) names.delete(name)
      else names.set(name, zone)
      const limit = 1 + random(20)
      const number = 1 + random(4)
      const expected = [...names]
        .filter(([, z]) => z === 'a')
        .map(([n]) => n)
        .sort()
        .reverse()
      const query = `label=zone%3Da&sortBy=name&limit=${limit}&page=${number}`
      expect(page(live, query)).to.deep.equal({
        names: expected.slice((number - 1) * limit, number * limit),
        total: expected.length,
      })
    }
  })
})

describe('listPageAt', () => {
  const start = () => {
    const store = storeOf(sample, { version: 10 })
    const changed = node('web-1', { created: '2031-01-01T00:00:00Z', meta: { resourceVersion: '11' } })
    store.apply([event('MODIFIED', changed)])
    const added = node('web-3', {
      created: '2031-01-05T00:00:00Z',
      labels: { app: 'web' },
      meta: { resourceVersion: '12' },
    })
    store.apply([event('ADDED', added)])
    return store
  }
  const at = async (version: number, query: string) =>
    toShown(
      await listPageAt(
        start(),
        { query: parseListQuery(new QueryParameters(query)), namespace: '', groupDomain: 'kapis.io' },
        version,
        createTimeSlices(),
      ),
    )

  const rows: readonly [number, string, readonly string[], number][] = [
    [10, 'labelSelector=app=web&sortBy=name&ascending=true', ['web-1', 'web-2'], 2],
    [11, 'labelSelector=app=web&sortBy=name&ascending=true', ['web-2'], 1],
    [12, 'labelSelector=app=web&sortBy=name&ascending=true', ['web-2', 'web-3'], 2],
    [11, 'sortBy=name&limit=2&page=2', ['db-2', 'db-1'], 4],
    [12, 'sortBy=.metadata.name&ascending=true&limit=1', ['db-1'], 5],
    [11, 'page=9&limit=2', [], 4],
  ]
  for (const [version, query, names, total] of rows) {
    it(`returns the state of ${version} for ?${query}`, async () => {
      expect(await at(version, query)).to.deep.equal({ names, total })
    })
  }
  it('throws 410 for an expired version', async () => {
    const error = await at(9, '').catch(error => error)
    expect(error).to.include({
      code: 410,
      reason: 'Expired',
      message: 'The resourceVersion for the provided list is too old: 9',
    })
  })
})

describe('a list of several namespaces', () => {
  const places = Array.from({ length: 1_000 }, (_, i) => `p${i}`)
  const store = storeOf(places.map(namespace => node('x', { meta: { namespace } })))
  const list = (query: string, namespace: string, ...namespaces: readonly string[]) => {
    const names = new Set(namespaces)
    let looks = 0
    const matches = (entry: CachedObject) => {
      looks++
      return names.has(entry.namespace)
    }
    const narrowing = joinRestrictions([
      { key: 'all', matches: () => true },
      { key: namespaces.join(), matches, namespaces: names },
    ])
    const parsed = parseListQuery(new QueryParameters(query))
    const request = { query: parsed, namespace, groupDomain: 'kapis.io', narrowing }
    return { request, looks: () => looks }
  }

  it('does not iterate over other namespaces, and returns synchronously', async () => {
    for (const [namespace, total] of [
      ['', 2],
      ['p7', 1],
      ['p8', 0],
    ] as const) {
      const { request, looks } = list('sortBy=name', namespace, 'p7', 'p77')
      const found = listPage(store, request, createTimeSlices())
      if (found instanceof Promise) throw new Error('it iterates over all of them')
      expect([found.total, looks()], namespace).to.deep.equal([total, total])
      const past = await listPageAt(store, request, 10, createTimeSlices())
      expect([past.total, looks()], namespace).to.deep.equal([total, 2 * total])
    }
  })

  it('includes objects that are added later', () => {
    const { request } = list('limit=5', '', 'p7', 'p77')
    const total = () => {
      const found = listPage(store, request, createTimeSlices())
      return found instanceof Promise ? undefined : found.total
    }
    expect(total()).to.equal(2)
    store.apply([event('ADDED', node('y', { version: 11, meta: { namespace: 'p77' } }))])
    store.apply([event('ADDED', node('y', { version: 12, meta: { namespace: 'p78' } }))])
    expect(total()).to.equal(3)
  })
})
