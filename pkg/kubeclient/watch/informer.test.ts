import { expect } from 'chai'
import { createScriptedCollection, silent, until } from '../../iam/fixtures.ts'
import type { KubeObject } from '../object/object.ts'
import { byName, Informer, type InformerOptions, type StoreChange } from './informer.ts'

type StoredWidget = { readonly name: string; readonly version: string; readonly colors: readonly string[] }

const object = (
  name: string,
  version: string,
  colors: readonly string[] = [],
  namespace?: string,
): KubeObject => ({
  metadata: {
    name,
    uid: `uid-${name}`,
    resourceVersion: version,
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...(namespace === undefined ? {} : { namespace }),
  },
  colors,
})

describe('Informer', () => {
  let informer: Informer<StoredWidget, 'color'>
  afterEach(() => informer.stop())

  async function follow(
    initial: readonly KubeObject[],
    options: Partial<InformerOptions<StoredWidget, 'color'>> = {},
  ) {
    const collection = createScriptedCollection(initial)
    const observed: (readonly [changes: readonly string[], isInInitialList: boolean])[] = []
    informer = new Informer({
      client: collection.client,
      path: '/api/v1/things',
      what: 'things',
      logger: silent,
      parse: ({ metadata: { name, resourceVersion: version }, colors }, before) => {
        if (before?.version === version) return before
        if (!Array.isArray(colors) || colors.includes('hidden')) return undefined
        return { name, version, colors }
      },
      indexers: { color: ({ colors }) => colors },
      onChange: (changes, isInInitialList) => observed.push([changes.map(written), isInInitialList]),
      ...options,
    })
    expect(informer.isReady).to.equal(false)
    await informer.start()
    await until(collection.isWatched)
    return { ...collection, observed }
  }

  const written = ({ key, before, after }: StoreChange<StoredWidget>) =>
    `${key} ${before?.version ?? 'none'}>${after?.version ?? 'none'}`
  const names = (found: Iterable<StoredWidget>) => [...found].map(({ name }) => name).sort()

  it('stores listed objects, and marks the initial list', async () => {
    const { observed } = await follow([object('a', '1', ['red']), object('b', '2', ['hidden'])])
    expect([informer.isReady, informer.size, names(informer.all())]).to.deep.equal([true, 1, ['a']])
    expect(informer.get('a')).to.deep.equal({ name: 'a', version: '1', colors: ['red'] })
    expect(informer.get('b')).to.equal(undefined)
    expect(observed).to.deep.equal([[['a none>1'], true]])
  })

  it('follows events, and reports those that change a stored object', async () => {
    const { emit, observed } = await follow([object('a', '1')])
    observed.length = 0
    emit({ type: 'BOOKMARK', object: object('', '2') })
    emit({ type: 'MODIFIED', object: object('a', '1') })
    emit({ type: 'DELETED', object: object('never there', '3') })
    emit({ type: 'ADDED', object: object('b', '4') })
    emit({ type: 'MODIFIED', object: object('a', '5') })
    emit({ type: 'MODIFIED', object: object('b', '6', ['hidden']) })
    emit({ type: 'DELETED', object: object('a', '7') })
    await until(() => informer.size === 0)
    expect(observed.flatMap(([changes]) => changes)).to.deep.equal([
      'b none>4',
      'a 1>5',
      'b 4>none',
      'a 5>none',
    ])
    expect(observed.some(([, isInInitialList]) => isInInitialList)).to.equal(false)
  })

  it('reports changes that happened while it was disconnected, after a new list', async () => {
    const { expire, observed } = await follow([object('a', '1'), object('b', '2'), object('c', '3')])
    observed.length = 0
    expire([object('a', '1'), object('b', '4'), object('d', '5')])
    await until(() => observed.length > 0)
    expect(observed).to.deep.equal([[['c 3>none', 'b 2>4', 'd none>5'], false]])
    expect(names(informer.all())).to.deep.equal(['a', 'b', 'd'])
  })

  it('calls back after a list without changes, too', async () => {
    const { expire, observed } = await follow([])
    expire([])
    await until(() => observed.length === 2)
    expect(observed).to.deep.equal([
      [[], true],
      [[], false],
    ])
  })

  it('finds the stored objects of an index', async () => {
    const { emit } = await follow([object('a', '1', ['red', 'red']), object('b', '2', ['red', 'blue'])])
    const red = () => names(informer.byIndex('color', 'red'))
    expect([red(), names(informer.byIndex('color', 'blue'))]).to.deep.equal([['a', 'b'], ['b']])
    emit({ type: 'MODIFIED', object: object('b', '3', ['green']) })
    await until(() => informer.byIndex('color', 'green').length === 1)
    expect([red(), informer.byIndex('color', 'blue')]).to.deep.equal([['a'], []])
    emit({ type: 'DELETED', object: object('a', '4') })
    await until(() => informer.size === 1)
    expect([red(), informer.byIndex('color', 'constructor')]).to.deep.equal([[], []])
  })

  it('stores objects by namespace and name, or by a given key', async () => {
    const objects = [object('a', '1', [], 'x'), object('a', '2', [], 'y')]
    await follow(objects)
    expect([informer.get('x/a')?.version, informer.get('y/a')?.version, informer.get('a')]).to.deep.equal([
      '1',
      '2',
      undefined,
    ])
    informer.stop()
    await follow(objects.slice(0, 1), { key: byName })
    expect(informer.get('a')?.version).to.equal('1')
  })

  it('stores a written object before the watch delivers it', async () => {
    const { observed } = await follow([])
    informer.put(object('a', '8', ['red']))
    expect([informer.get('a')?.version, informer.byIndex('color', 'red').length]).to.deep.equal(['8', 1])
    expect(observed).to.deep.equal([[[], true]])
  })
})
