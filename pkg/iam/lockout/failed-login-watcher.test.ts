import { expect } from 'chai'
import { createScriptedCollection, silent, until } from '../fixtures.ts'
import type { ReceivedFailure } from '../loginrecords/login-record.ts'
import { FailedLoginWatcher } from './failed-login-watcher.ts'

let nowMs = 0
const record = (
  uid: string,
  ageSeconds: number,
  changes: { writer?: string; user?: string; provider?: string } = {},
) => ({
  metadata: {
    name: uid,
    uid,
    resourceVersion: '1',
    creationTimestamp: new Date(nowMs - ageSeconds * 1000).toISOString(),
    labels: { 'iam.kapis.io/user-ref': changes.user ?? 'alice', 'iam.kapis.io/login-ref': 'ref' },
    annotations: { 'iam.kapis.io/recorded-by': changes.writer ?? 'other' },
  },
  spec: {
    type: 'Password',
    success: false,
    sourceIP: '192.0.2.1',
    provider: changes.provider ?? '',
  },
})

describe('FailedLoginWatcher', () => {
  // Created for each test: the window is the last minute, and the whole run may take longer.
  beforeEach(() => {
    nowMs = Math.floor(Date.now() / 1000) * 1000
  })

  function start(initial: ReturnType<typeof record>[]) {
    const collection = createScriptedCollection(initial)
    const observed: ReceivedFailure[] = []
    const feed = new FailedLoginWatcher({
      client: collection.client,
      groupDomain: 'kapis.io',
      writer: 'me',
      windowSeconds: 60,
      onFailure: failure => void observed.push(failure),
      logger: silent,
    })
    return { collection, feed, observed }
  }

  it('reports the failures of other replicas within the window once, oldest first', async () => {
    const { collection, feed, observed } = start([record('b', 5), record('a', 50), record('old', 61)])
    await feed.start()
    expect(feed.isReady).to.equal(true)
    expect(observed).to.deep.equal([
      { user: 'alice', loginRef: 'ref', address: '192.0.2.1', atMs: nowMs - 50_000 },
      { user: 'alice', loginRef: 'ref', address: '192.0.2.1', atMs: nowMs - 5_000 },
    ])
    await until(() => collection.isWatched())
    collection.expire([record('b', 5), record('c', 1, { user: 'bob' })])
    await until(() => observed.length === 3)
    expect(observed[2]).to.include({ user: 'bob' })
    feed.stop()
  })

  it('reports a login that an identity provider rejected under its login name, not under a user', async () => {
    const { feed, observed } = start([record('a', 5, { provider: 'ldap' })])
    await feed.start()
    expect(observed).to.deep.equal([{ user: '', loginRef: 'ref', address: '192.0.2.1', atMs: nowMs - 5_000 }])
    feed.stop()
  })

  it('skips failures that this process has counted itself', async () => {
    const { collection, feed, observed } = start([record('a', 5, { writer: 'me' })])
    await feed.start()
    await until(() => collection.isWatched())
    collection.emit({ type: 'ADDED', object: record('b', 1, { writer: 'me' }) })
    collection.emit({ type: 'ADDED', object: record('c', 1) })
    await until(() => observed.length > 0)
    expect(observed).to.have.length(1)
    feed.stop()
  })
})
