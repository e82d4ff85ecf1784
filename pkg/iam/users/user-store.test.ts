import { expect } from 'chai'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { createScriptedCollection, silent, until } from '../fixtures.ts'
import { UserStore } from './user-store.ts'

function user(name: string, email: string, createdAt = '2026-01-01T00:00:00Z'): KubeObject {
  return {
    metadata: { name, uid: `uid-${name}`, resourceVersion: '2', creationTimestamp: createdAt },
    spec: { email },
  }
}

describe('UserStore', () => {
  let store: UserStore
  afterEach(() => store.stop())

  async function follow(initial: readonly KubeObject[], logger = silent) {
    const collection = createScriptedCollection(initial)
    store = new UserStore({ client: collection.client, groupDomain: 'kapis.io', logger })
    await store.start()
    return collection
  }

  it('finds users by name and by e-mail address', async () => {
    await follow([user('alice', 'Alice@Kapis.io'), user('bob', '')])
    expect(store.find('alice')?.name).to.equal('alice')
    expect(store.find('alice@kapis.io')?.name).to.equal('alice')
    expect(store.find('ALICE@KAPIS.IO')?.name).to.equal('alice')
    expect(store.get('alice@kapis.io')).to.equal(undefined)
    for (const login of ['', '@', 'carol', 'carol@kapis.io', '__proto__', 'Alice'])
      expect(store.find(login), login).to.equal(undefined)
  })

  it('assigns a duplicate e-mail address to the oldest user', async () => {
    const collection = await follow([
      user('aaron', 'shared@kapis.io', '2026-03-01T00:00:00Z'),
      user('zoe', 'shared@kapis.io', '2026-01-01T00:00:00Z'),
      user('mia', 'shared@kapis.io', '2026-02-01T00:00:00Z'),
    ])
    expect(store.find('shared@kapis.io')?.name).to.equal('zoe')
    await until(() => {
      collection.emit({ type: 'DELETED', object: user('zoe', 'shared@kapis.io') })
      return store.find('shared@kapis.io')?.name === 'mia'
    })
  })

  it('assigns a claimed e-mail address to the user to whom an administrator gave it', async () => {
    const claim = user('aaron', 'mia@kapis.io', '2026-01-01T00:00:00Z')
    const annotations = { 'iam.kapis.io/own-email': 'mia@kapis.io' }
    const claimed = {
      ...claim,
      apiVersion: 'iam.kapis.io/v1alpha2',
      metadata: { ...claim.metadata, annotations },
    }
    const mia = user('mia', 'mia@kapis.io', '2026-02-01T00:00:00Z')
    await follow([claimed, { ...mia, apiVersion: 'iam.kapis.io/v1alpha2' }])
    expect(store.find('mia@kapis.io')?.name).to.equal('mia')
  })

  it('logs once which stored groups of a user are ignored', async () => {
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const logger = createLogger({ program: 'test', level: 'warn', destination })
    const withGroups = (groups: readonly string[]) => ({
      ...user('alice', 'alice@kapis.io'),
      spec: { email: 'alice@kapis.io', groups },
    })
    const collection = await follow([withGroups(['dev', ' system:masters'])], logger)
    expect(store.get('alice')?.groups).to.deep.equal(['dev'])
    for (const groups of [['dev', ' system:masters', 'ops'], ['dev'], ['qa ', 'a', 'b']])
      await until(() => {
        collection.emit({ type: 'MODIFIED', object: withGroups(groups) })
        return store.get('alice')?.groups.length === groups.filter(group => group.trim() === group).length
      })
    const logged = lines.map(line => JSON.parse(line)).map(({ user: name, groups }) => [name, groups])
    expect(logged).to.deep.equal([
      ['alice', [' system:masters']],
      ['alice', ['qa ']],
    ])
  })

  it('follows changes of an e-mail address', async () => {
    const collection = await follow([user('alice', 'old@kapis.io')])
    await until(() => {
      collection.emit({ type: 'MODIFIED', object: user('alice', 'new@kapis.io') })
      return store.find('new@kapis.io') !== undefined
    })
    expect(store.find('old@kapis.io')).to.equal(undefined)
    expect(store.size).to.equal(1)
  })

  it('treats a user who is being deleted as deleted', async () => {
    const alice = user('alice', 'alice@kapis.io')
    const going = { ...alice, metadata: { ...alice.metadata, deletionTimestamp: '2026-02-01T00:00:00Z' } }
    const collection = await follow([alice])
    await until(() => {
      collection.emit({ type: 'MODIFIED', object: going })
      return store.get('alice') === undefined
    })
    collection.expire([going])
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(store.size).to.equal(0)
  })
})
