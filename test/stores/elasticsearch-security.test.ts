import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { hasJavaFor } from '../../hack/opensearch/command.ts'
import { findSecuredEngine } from '../../hack/opensearch/engines.ts'
import { rejectedStatus } from '../../pkg/apierrors/fixtures.ts'
import { createCa } from '../../pkg/certs/issue.ts'
import { record } from '../../pkg/logs/fixtures.ts'
import { createOpenSearchStore } from '../../pkg/logs/opensearch/store.ts'
import type { LogStore } from '../../pkg/logs/store.ts'
import { createTimeSlices } from '../../pkg/scheduling/time-slices.ts'
import { createLogger } from '../../pkg/telemetry/logger.ts'
import { type SecuredElasticsearch, startSecuredElasticsearch } from './secured-elasticsearch.ts'

const everything = {
  filter: { scope: 'everything' },
  order: 'desc',
  size: 10,
  start: { from: 0 },
  withTotal: true,
} as const
const limits = { timeoutMs: 20_000 }
const refused = 'the log store rejected the credentials of Kapis'

/** The permissions that Kapis requires according to docs/logs.md. */
const permissions = {
  cluster: ['manage_index_templates'],
  indices: [
    { names: ['kept-*', 'events.kept-*'], privileges: ['read', 'create_doc', 'auto_configure'] },
    { names: ['events.kept-*'], privileges: ['view_index_metadata', 'delete_index'] },
  ],
}

describe('a store in a secured Elasticsearch', function () {
  this.timeout(400_000)

  let engine: SecuredElasticsearch
  const stores: LogStore[] = []

  before(async function () {
    if (!hasJavaFor(findSecuredEngine().engine)) this.skip()
    engine = await startSecuredElasticsearch()
  })
  after(async () => {
    await Promise.all(stores.map(store => store.close()))
    await engine?.stop()
  })

  type StoreSettings = {
    readonly username?: string
    readonly password?: string
    readonly apiKey?: string
    readonly ca?: string
    readonly prefix?: string
    readonly retentionDays?: number
    readonly setUpAgainMs?: number
  }
  function open(given: StoreSettings): LogStore {
    const { username = '', password = '', apiKey = '', ca = engine.ca, prefix = 'kept', ...more } = given
    const store = createOpenSearchStore({
      engine: { url: engine.url, username, ca },
      credentials: { password, apiKey },
      prefix,
      logger: createLogger({ program: 'test', level: 'error' }),
      timeSlices: createTimeSlices(),
      ...more,
    })
    stores.push(store)
    return store
  }
  async function makeKey(roles: object): Promise<{ readonly id: string; readonly apiKey: string }> {
    const made = await engine.send('POST', '/_security/api_key', { name: 'kapis', role_descriptors: roles })
    return { id: String(made.id), apiKey: String(made.encoded) }
  }
  async function keepsAndFinds(store: LogStore, log: string): Promise<void> {
    const kept = record({ log, timeNs: BigInt(Date.now()) * 1_000_000n })
    expect(await store.append({ records: [kept] })).to.deep.equal({ duplicate: false, rejected: [] })
    await engine.send('POST', '/_refresh')
    const { hits } = await store.query(everything, limits)
    expect(hits.map(hit => hit.record)).to.deep.include(kept)
    expect(await store.check()).to.equal(undefined)
  }
  async function isRejected(store: LogStore, secret: string): Promise<void> {
    for (const asked of [store.query(everything, limits), store.append({ records: [record()] })]) {
      const { code, message, cause } = await rejectedStatus(asked)
      expect([code, message]).to.deep.equal([503, refused])
      expect(`${String(cause)} ${JSON.stringify(cause)}`).to.not.include(secret)
    }
    expect(await store.check()).to.equal(refused)
  }

  it('stores and finds lines with user and password', async () => {
    const { username, password } = engine
    await keepsAndFinds(open({ username, password }), 'with a password')
  })

  it('stores and finds lines with an API key that has only the documented privileges', async () => {
    const { apiKey } = await makeKey({ kapis: permissions })
    const store = open({ apiKey })
    await keepsAndFinds(store, 'with a key')
    const counted = await store.statistics({ scope: 'everything' }, limits)
    expect(counted.logs).to.be.greaterThan(0)
    const template = await engine.send('GET', '/_index_template/kapis-kept')
    expect(JSON.stringify(template)).to.include('kept-*')
    // A query without an index returns no lines and no error.
    const none = await open({ apiKey, prefix: 'events.kept' }).query(everything, limits)
    expect([none.total, none.hits]).to.deep.equal([0, []])
  })

  it('deletes expired days with these privileges', async () => {
    const [old, other] = ['events.kept-2020.01.01', 'kept-2020.01.01']
    for (const name of [old, other]) await engine.send('PUT', `/${name}`)
    open({ apiKey: (await makeKey({ kapis: permissions })).apiKey, prefix: 'events.kept', retentionDays: 2 })
    const names = async () =>
      Object.keys(await engine.send('GET', '/*kept-2020*/_alias?ignore_unavailable=true'))
    for (const until = Date.now() + 30_000; (await names()).includes(old) && Date.now() < until; )
      await sleep(50)
    expect(await names()).to.deep.equal([other])
  })

  it('stores lines with a key that may not write the template, and writes it once the key may', async () => {
    const indices = [{ names: ['late-*'], privileges: ['read', 'create_doc', 'auto_configure'] }]
    const { id, apiKey } = await makeKey({ kapis: { indices } })
    const store = open({ apiKey, prefix: 'late', setUpAgainMs: 500 })
    await keepsAndFinds(store, 'before the template')
    const isSet = () =>
      engine.send('GET', '/_index_template/kapis-late').then(
        () => true,
        () => false,
      )
    expect(await isSet()).to.equal(false)
    const role_descriptors = { kapis: { cluster: ['manage_index_templates'], indices } }
    await engine.send('PUT', `/_security/api_key/${id}`, { role_descriptors })
    await sleep(600)
    await keepsAndFinds(store, 'behind the template')
    expect(await isSet()).to.equal(true)
  })

  it('reports that a key may not write, and reads with it', async () => {
    const { apiKey } = await makeKey({ reader: { indices: [{ names: ['kept-*'], privileges: ['read'] }] } })
    const store = open({ apiKey })
    expect((await store.query(everything, limits)).hits).to.not.deep.equal([])
    // The engine responds with 200 and rejects each line. With a 200 of Kapis, a log shipper would
    // drop them.
    const { code, message, cause } = await rejectedStatus(store.append({ records: [record()] }))
    expect([code, message]).to.deep.equal([503, refused])
    expect(String(cause)).to.include('is unauthorized for API key')
  })

  it('fails with a wrong password', async () => {
    const password = 'not-the-password'
    await isRejected(open({ username: engine.username, password }), password)
  })

  it('fails with a revoked key', async () => {
    const { id, apiKey } = await makeKey({ kapis: permissions })
    await engine.send('DELETE', '/_security/api_key', { ids: [id] })
    await isRejected(open({ apiKey }), apiKey)
  })

  it('fails without a credential', async () => {
    await isRejected(open({}), 'nothing to tell')
  })

  it('connects to no server with a certificate of another CA', async () => {
    const ca = createCa({ commonName: 'other', validityDays: 2 }).certPem
    const { username, password } = engine
    const { code, message } = await rejectedStatus(open({ username, password, ca }).query(everything, limits))
    expect([code, message]).to.deep.equal([503, 'the log store is not responding'])
  })
})
