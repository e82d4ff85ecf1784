import { expect } from 'chai'
import { renderKube } from '../../../apierrors/render-kube.ts'
import { type Loopback, startLoopback, toExchange } from '../../../apirequest/fixtures.ts'
import { createMemoryStore } from '../../../logs/fixtures.ts'
import { session } from '../../../recording/fixtures.ts'
import { type Session, type SessionPart, toRecord } from '../../../recording/session.ts'
import { unlimitedConcurrency } from '../../logs/fixtures.ts'
import { createSessionRecordingApi, isOfSessionRecordings } from './session-recordings.ts'

const base = '/kapis/logging.kapis.io/v1alpha2'
const second = 1_000_000_000n
const at = (seconds: number) => (1_795_780_800n + BigInt(seconds)) * second
const record = (of: Session, part: SessionPart, log: unknown, seconds: number) =>
  toRecord(of, part, typeof log === 'string' ? log : JSON.stringify(log), at(seconds))
const [one, two, three] = [
  session({ startTimestamp: '2026-11-27T12:00:00.000Z' }),
  session({ id: 'two', user: 'joe', pod: 'web-1', startTimestamp: '2026-11-27T12:00:10.000Z' }),
  session({ id: 'three', namespace: 'bank', startTimestamp: '2026-11-27T12:00:20.000Z' }),
]
const end = { endTimestamp: '2026-11-27T12:00:05.000Z', outputBytes: 2, reason: '' }
const store = createMemoryStore([
  record(one, 'start', one, 0),
  record(one, 'output', '[0.1,"r","100x30"]\n[0.2,"o","a"]', 1),
  record(one, 'output', '[4,"o","b"]', 4),
  record(one, 'end', end, 5),
  record(two, 'start', two, 10),
  record(three, 'start', three, 20),
])

describe('createSessionRecordingApi', () => {
  let loopback: Loopback | undefined
  let createdAt = 1_795_780_000
  before(async () => {
    const api = createSessionRecordingApi({
      ...{ store, concurrency: unlimitedConcurrency, limits: () => ({ queryTimeoutSeconds: 1 }) },
      created: () => new Map([['shop', createdAt]]),
    })
    loopback = await startLoopback(async (req, res) => {
      try {
        await api(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
  })
  after(() => loopback?.close())
  afterEach(() => {
    createdAt = 1_795_780_000
  })
  const send = async (path: string, method = 'GET') => {
    const response = await loopback?.get(base + path, { method })
    return { code: response?.code, text: response?.text ?? '', headers: response?.headers }
  }
  const names = async (path: string) => {
    const { items } = JSON.parse((await send(path)).text)
    return items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
  }

  it('lists sessions, newest first, with the end of each if known', async () => {
    const { id, namespace, startTimestamp, ...spec } = one
    const list = JSON.parse((await send('/sessionrecordings')).text)
    expect([list.kind, list.apiVersion, list.metadata, list.items.length]).to.deep.equal([
      'SessionRecordingList',
      'logging.kapis.io/v1alpha2',
      {},
      3,
    ])
    expect(list.items[2]).to.deep.equal({
      metadata: { name: id, namespace, creationTimestamp: startTimestamp },
      spec,
      status: end,
    })
    expect(list.items[0].status).to.deep.equal({})
  })

  for (const [query, expected] of [
    ['', ['three', 'two', 'one']],
    ['?user=joe,jim', ['two']],
    ['?pod=web-0&namespace=shop', ['one']],
    ['?start_time=1795780805&end_time=1795780815', ['two']],
    ['?limit=1', ['three']],
    // With a field selector the request is still authorized as a list, so it must not return the
    // output of a session.
    ['?fieldSelector=metadata.name%3Done', ['three', 'two', 'one']],
  ] as const) {
    it(`filters by ${query || 'nothing'}`, async () =>
      expect(await names(`/sessionrecordings${query}`)).to.deep.equal(expected))
  }

  it('continues a list at its cursor', async () => {
    const first = JSON.parse((await send('/sessionrecordings?limit=2')).text)
    const rest = JSON.parse(
      (await send(`/sessionrecordings?limit=2&continue=${first.metadata.continue}`)).text,
    )
    expect(rest.items.map((item: { metadata: { name: string } }) => item.metadata.name)).to.deep.equal([
      'one',
    ])
    expect(rest.metadata).to.deep.equal({})
  })

  it('returns below a namespace only what happened since its creation', async () => {
    const path = '/namespaces/shop/sessionrecordings'
    expect(await names(path)).to.deep.equal(['two', 'one'])
    expect(await names('/namespaces/bank/sessionrecordings')).to.deep.equal([])
    createdAt = 1_795_780_805
    expect(await names(path)).to.deep.equal(['two'])
    expect((await send(`${path}/one`)).code).to.equal(404)
    expect((await send(`${path}/three`)).code).to.equal(404)
  })

  for (const path of ['/sessionrecordings/one', '/namespaces/shop/sessionrecordings/one']) {
    it(`serves ${path} as an asciicast`, async () => {
      const { code, text, headers } = await send(path)
      expect([code, headers?.['content-type']]).to.deep.equal([200, 'application/x-asciicast'])
      const [header, ...events] = text.trimEnd().split('\n')
      expect(JSON.parse(header ?? '')).to.include({ version: 2, width: 100, height: 30 })
      expect(events).to.deep.equal(['[0.1,"r","100x30"]', '[0.2,"o","a"]', '[4,"o","b"]'])
    })
  }

  for (const [path, code, message] of [
    ['/sessionrecordings/none', 404, 'sessionrecordings.logging.kapis.io "none" not found'],
    ['/sessionrecordings?limit=x', 400, 'limit must be a whole number from 0 to 1000, not "x"'],
    ['/sessionrecordings?limit=1001', 400, 'limit must be a whole number from 0 to 1000, not "1001"'],
    ['/sessionrecordings?watch=true', 400, 'recordings cannot be watched'],
    ['/sessionrecordings?user=a&user=b', 400, 'user is given more than once'],
  ] as const) {
    it(`responds to ${path} with ${code}`, async () => {
      const response = await send(path)
      expect([response.code, JSON.parse(response.text).message]).to.deep.equal([code, message])
    })
  }

  it('accepts only reads', async () => {
    const { code, headers } = await send('/sessionrecordings/one', 'DELETE')
    expect([code, headers?.allow]).to.deep.equal([405, 'GET, HEAD'])
  })
})

describe('isOfSessionRecordings', () => {
  for (const [path, expected] of [
    ['sessionrecordings', true],
    ['sessionrecordings/one', true],
    ['namespaces/shop/sessionrecordings', true],
    ['namespaces/sessionrecordings', false],
    ['cluster', false],
    ['', false],
  ] as const) {
    it(`is correct for ${JSON.stringify(path)}`, () =>
      expect(isOfSessionRecordings(path.split('/'))).to.equal(expected))
  }
})
