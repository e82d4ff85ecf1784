import { expect } from 'chai'
import { rejectedStatus, toErrorFields } from '../../apierrors/fixtures.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { bookmark, createRandom, event, node, replaceAll, storeOf } from '../../resourcecache/fixtures.ts'
import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import { entriesOf } from '../../resourcecache/store/chunk.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import { createTimeSlices } from '../../scheduling/time-slices.ts'
import { formatContinueToken, parseContinueToken } from './continue-token.ts'
import { listObjects } from './list.ts'
import { parseListOptions, toSelectorKey } from './list-options.ts'

async function list(
  store: ObjectStore,
  query: string | Record<string, string> = '',
  visible?: ObjectVisibility,
) {
  const params = new QueryParameters(String(new URLSearchParams(query)))
  const unnamed = { name: '', namedBy: '' } as const
  const { selection, metadata } = await listObjects(
    store,
    parseListOptions(params, 'list', unnamed),
    toSelectorKey(params, unnamed),
    { timeSlices: createTimeSlices(), visible },
  )
  const names = [...entriesOf(selection)].map(({ name, version }) => `${name}@${version}`)
  return { names, metadata }
}

const five = () =>
  storeOf(
    ['a', 'b', 'c', 'd', 'e'].map((name, i) =>
      node(name, { version: 1 + i, labels: { odd: String(i % 2) } }),
    ),
    { version: 10 },
  )

describe('listObjects', () => {
  describe('without a resource version', () => {
    it('returns everything in key order, at the current version', async () => {
      expect(await list(five())).to.deep.equal({
        names: ['a@1', 'b@2', 'c@3', 'd@4', 'e@5'],
        metadata: { resourceVersion: '10' },
      })
    })

    it('returns an empty list for an empty collection', async () => {
      expect(await list(storeOf([]), 'limit=5')).to.deep.equal({
        names: [],
        metadata: { resourceVersion: '10' },
      })
    })

    const selections: readonly [string, readonly string[]][] = [
      ['labelSelector=odd%3D1', ['b@2', 'd@4']],
      ['labelSelector=!odd', []],
      ['fieldSelector=metadata.name%3Dc', ['c@3']],
      ['fieldSelector=metadata.name%3Dzz', []],
      ['fieldSelector=metadata.name!%3Dc', ['a@1', 'b@2', 'd@4', 'e@5']],
      ['fieldSelector=metadata.name%3Dc&labelSelector=odd%3D1', []],
      ['fieldSelector=metadata.name%3Dc,metadata.name%3Dd', []],
      ['fieldSelector=metadata.name%3Dc&limit=1', ['c@3']],
    ]
    for (const [query, names] of selections) {
      it(`?${query} selects ${names.join(', ') || 'nothing'}`, async () => {
        expect(await list(five(), query)).to.deep.equal({ names, metadata: { resourceVersion: '10' } })
      })
    }
  })

  describe('with restricted visibility', () => {
    const narrowed = (...names: readonly string[]): ObjectVisibility => ({
      key: names.join(),
      has: ({ name }) => names.includes(name),
      onChange: () => () => undefined,
      fixed: { versionShown: () => 1, show: () => undefined },
    })

    it('counts and returns only visible objects', async () => {
      const visible = narrowed('a', 'c', 'e')
      const { names, metadata } = await list(five(), 'limit=1', visible)
      expect(names).to.deep.equal(['a@1'])
      expect(metadata).to.deep.equal({
        resourceVersion: '10',
        continue: formatContinueToken({ version: 10, key: 'a', view: 'a,c,e' }),
        remainingItemCount: 2,
      })
      const selected = await list(five(), 'labelSelector=odd%3D1', visible)
      expect(selected.names).to.deep.equal([])
      expect((await list(five(), 'fieldSelector=metadata.name%3Dc', visible)).names).to.deep.equal(['c@3'])
      expect((await list(five(), 'fieldSelector=metadata.name%3Db', visible)).names).to.deep.equal([])
    })

    it('continues at the version of the first chunk, with the same visible objects', async () => {
      const store = five()
      const { metadata } = await list(store, 'limit=1', narrowed('a', 'c'))
      const more = { limit: '1', continue: metadata.continue ?? '' }
      store.apply([event('DELETED', node('c', { version: 11 }))])
      expect((await list(store, more, narrowed('a', 'c'))).names).to.deep.equal(['c@3'])
      for (const visible of [undefined, narrowed('a'), narrowed('a', 'c', 'd')])
        expect(toErrorFields(await rejectedStatus(list(store, more, visible)))).to.include({ code: 410 })
      const all = await list(store, 'limit=1')
      const rest = { limit: '1', continue: all.metadata.continue ?? '' }
      expect(toErrorFields(await rejectedStatus(list(store, rest, narrowed('a'))))).to.include({ code: 410 })
    })
  })

  describe('limit and continue', () => {
    it('returns a continue token and the remaining item count', async () => {
      const { names, metadata } = await list(five(), 'limit=2')
      expect(names).to.deep.equal(['a@1', 'b@2'])
      expect(metadata).to.deep.equal({
        resourceVersion: '10',
        continue: formatContinueToken({ version: 10, key: 'b' }),
        remainingItemCount: 3,
      })
    })

    for (const limit of [5, 6, 500]) {
      it(`returns a complete list with a limit of ${limit} for five objects`, async () => {
        expect((await list(five(), `limit=${limit}`)).metadata).to.deep.equal({ resourceVersion: '10' })
      })
    }

    it('omits the remaining item count with a selector', async () => {
      const { names, metadata } = await list(five(), 'limit=1&labelSelector=odd%3D0')
      expect(names).to.deep.equal(['a@1'])
      expect(metadata).to.deep.equal({
        resourceVersion: '10',
        continue: formatContinueToken({ version: 10, key: 'a' }),
      })
    })

    it('does not paginate with resourceVersion=0', async () => {
      const { names, metadata } = await list(five(), 'limit=2&resourceVersion=0')
      expect(names).to.have.length(5)
      expect(metadata).to.deep.equal({ resourceVersion: '10' })
    })

    for (const selector of ['', 'zone=a']) {
      it(`returns one consistent state across chunks while objects change (${selector || 'no selector'})`, async () => {
        const { store, churn } = createChurn()
        const select = selector === '' ? {} : { labelSelector: selector }
        const expected = (await list(store, select)).names
        const listed: string[] = []
        for (let token: string | undefined = ''; token !== undefined; churn()) {
          const page = token === '' ? { ...select, limit: '7' } : { ...select, limit: '7', continue: token }
          const { names, metadata } = await list(store, page)
          listed.push(...names)
          expect(metadata.resourceVersion).to.equal('10')
          expect(names.length).to.be.within(1, 7)
          const left = selector === '' && listed.length < 200 ? 200 - listed.length : undefined
          expect(metadata.remainingItemCount).to.equal(left)
          token = metadata.continue
        }
        expect(listed).to.deep.equal(expected)
      })
    }

    it('returns 410 with a token to continue when the version has expired', async () => {
      const store = five()
      const { metadata } = await list(store, 'limit=2')
      replaceAll(
        store,
        ['a', 'c', 'f'].map(name => node(name, { version: 30 })),
        '40',
      )
      const status = await rejectedStatus(list(store, { limit: '2', continue: metadata.continue ?? '' }))
      expect(toErrorFields(status)).to.include({ code: 410, reason: 'Expired' })
      expect(status.message).to.match(
        /^The provided continue parameter is too old to display a consistent list/,
      )
      const fresh = status.metadata.continue ?? ''
      expect(parseContinueToken(fresh)).to.deep.equal({ version: -1, key: 'b' })
      expect(await list(store, { limit: '1', continue: fresh })).to.deep.equal({
        names: ['c@30'],
        metadata: {
          resourceVersion: '40',
          continue: formatContinueToken({ version: 40, key: 'c' }),
          remainingItemCount: 1,
        },
      })
    })

    it('continues after an object that was deleted', async () => {
      const store = five()
      const token = formatContinueToken({ version: -1, key: 'b' })
      store.apply([event('DELETED', node('b', { version: 11 }))])
      expect((await list(store, { continue: token })).names).to.deep.equal(['c@3', 'd@4', 'e@5'])
    })

    it('returns an empty list after the last object', async () => {
      const token = formatContinueToken({ version: 10, key: 'e' })
      expect(await list(five(), { limit: '2', continue: token })).to.deep.equal({
        names: [],
        metadata: { resourceVersion: '10' },
      })
    })

    it('rejects an invalid token', async () => {
      expect(toErrorFields(await rejectedStatus(list(five(), 'limit=2&continue=abc')))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message:
          'continue key is not valid: it must be the value that the previous page of this list returned',
      })
    })

    it('applies the selector of the query with any token', async () => {
      const token = formatContinueToken({ version: 10, key: 'a' })
      const { names } = await list(five(), { continue: token, fieldSelector: 'metadata.name=c' })
      expect(names).to.deep.equal(['c@3'])
    })

    it('waits for a version that another replica has seen already', async () => {
      const store = five()
      const waiting = list(store, { continue: formatContinueToken({ version: 12, key: 'd' }) })
      store.apply([event('ADDED', node('f', { version: 12 }))])
      expect((await waiting).names).to.deep.equal(['e@5', 'f@12'])
    })
  })

  describe('with a resource version', () => {
    const changed = () => {
      const store = five()
      store.apply([
        event('MODIFIED', node('a', { version: 11, labels: { odd: '1' } })),
        event('DELETED', node('b', { version: 12 })),
        event('ADDED', node('f', { version: 13 })),
      ])
      return store
    }
    const now = ['a@11', 'c@3', 'd@4', 'e@5', 'f@13']

    for (const query of [
      'resourceVersion=0',
      'resourceVersion=5',
      'resourceVersion=11',
      'resourceVersion=13',
      'resourceVersion=11&resourceVersionMatch=NotOlderThan',
      'resourceVersion=13&resourceVersionMatch=Exact',
    ]) {
      it(`?${query} returns the current state`, async () => {
        expect(await list(changed(), query)).to.deep.equal({
          names: now,
          metadata: { resourceVersion: '13' },
        })
      })
    }

    const exact: readonly [number, readonly string[]][] = [
      [10, ['a@1', 'b@2', 'c@3', 'd@4', 'e@5']],
      [11, ['a@11', 'b@2', 'c@3', 'd@4', 'e@5']],
      [12, ['a@11', 'c@3', 'd@4', 'e@5']],
    ]
    for (const [version, names] of exact) {
      it(`Exact ${version} returns the state of that version`, async () => {
        expect(await list(changed(), `resourceVersion=${version}&resourceVersionMatch=Exact`)).to.deep.equal({
          names,
          metadata: { resourceVersion: String(version) },
        })
      })
    }

    it('with a limit and without a match rule starts and continues at that version', async () => {
      const first = await list(changed(), 'resourceVersion=11&limit=2')
      expect(first.names).to.deep.equal(['a@11', 'b@2'])
      expect(first.metadata).to.include({ resourceVersion: '11', remainingItemCount: 3 })
      const token = first.metadata.continue ?? ''
      expect((await list(changed(), { continue: token, limit: '5' })).names).to.deep.equal([
        'c@3',
        'd@4',
        'e@5',
      ])
      const status = await rejectedStatus(list(changed(), 'resourceVersion=9&limit=2'))
      expect(status).to.include({ code: 410, reason: 'Expired' })
    })

    it('applies selectors to the state of that version', async () => {
      const query = 'resourceVersionMatch=Exact&resourceVersion='
      const select = '&labelSelector=odd%3D1'
      expect((await list(changed(), `${query}10${select}`)).names).to.deep.equal(['b@2', 'd@4'])
      expect((await list(changed(), `${query}11${select}`)).names).to.deep.equal(['a@11', 'b@2', 'd@4'])
    })

    it('returns 410 to an Exact version that has expired', async () => {
      const query = 'resourceVersion=9&resourceVersionMatch=Exact'
      expect(toErrorFields(await rejectedStatus(list(changed(), query)))).to.deep.equal({
        code: 410,
        reason: 'Expired',
        message: 'The resourceVersion for the provided list is too old: 9',
      })
    })

    it('waits for a version that is about to arrive', async () => {
      const store = five()
      const waiting = list(store, 'resourceVersion=20')
      store.apply([bookmark(21)])
      expect((await waiting).metadata.resourceVersion).to.equal('21')
    })

    it('returns 504 to a version that does not arrive', async () => {
      const status = await rejectedStatus(list(five(), 'resourceVersion=18446744073709551615'))
      expect(toErrorFields(status)).to.deep.equal({
        code: 504,
        reason: 'Timeout',
        message: 'Timeout: Too large resource version: 18446744073709551615, current: 10',
      })
      expect(status.details).to.deep.equal({
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      })
      expect(status.headers).to.deep.equal({ 'retry-after': '1' })
    }).timeout(5_000)
  })
})

/** Creates a collection of 200 objects, and a function that changes ten of them. */
function createChurn() {
  const random = createRandom(10)
  const zone = () => ({ zone: random(2) ? 'a' : 'b' })
  const items = Array.from({ length: 200 }, (_, i) => node(`n${1000 + i}`, { version: 1, labels: zone() }))
  const store = storeOf(items, { version: 10 })
  let version = 10
  const churn = () => {
    for (let i = 0; i < 10; i++) {
      version++
      const object = node(`n${900 + random(400)}`, { version, labels: zone() })
      const known = store.get('', object.metadata.name) !== undefined
      store.apply([event(known ? (random(2) ? 'DELETED' : 'MODIFIED') : 'ADDED', object)])
    }
  }
  return { store, churn }
}
