import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { type FakeKubeApiserver, respondJson, startFakeKubeApiserver, until } from '../fixtures.ts'
import { Reflector } from './reflector.ts'

const object = (name: string, version: number) => ({
  metadata: { name, uid: name, resourceVersion: String(version), creationTimestamp: '' },
})
const line = (type: string, of: unknown) => `${JSON.stringify({ type, object: of })}\n`
const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }

type Step = (res: ServerResponse, url: URL) => unknown

/**
 * Starts a reflector with scripted responses to lists and watches. Requests after the script never
 * complete.
 */
async function start(
  script: { lists: readonly Step[]; watches?: readonly Step[]; hasBookmarks?: false },
  query?: Record<string, string>,
) {
  const lists = [...script.lists]
  const watches = [...(script.watches ?? [])]
  const fake = await startFakeKubeApiserver((req, res) => {
    const url = new URL(req.url ?? '/', 'http://x')
    const steps = url.searchParams.get('watch') === 'true' ? watches : lists
    return steps.shift()?.(res, url)
  })
  const received: string[] = []
  const began: number[] = []
  const names = (items: readonly { metadata: { name: string; resourceVersion: string } }[]) =>
    items.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).join(' ')
  const reflector = new Reflector({
    client: fake.client,
    path: '/api/v1/nodes',
    ...(query === undefined ? {} : { query }),
    ...(script.hasBookmarks === undefined ? {} : { hasBookmarks: script.hasBookmarks }),
    handler: {
      listing: () => began.push(Date.now()),
      replace: (items, version) => received.push(`replace ${version}: ${names(items)}`),
      apply: events => received.push(`apply ${events.map(e => `${e.type} ${names([e.object])}`).join(', ')}`),
      connected: connected => received.push(connected ? 'connected' : 'disconnected'),
      failed: error => received.push(`failed ${error instanceof Status ? error.code : error}`),
    },
  })
  return { fake, received, began, reflector, synced: reflector.start() }
}

const list =
  (version: number, ...items: readonly ReturnType<typeof object>[]): Step =>
  res =>
    respondJson(res, 200, {
      kind: 'NodeList',
      apiVersion: 'v1',
      metadata: { resourceVersion: String(version) },
      items,
    })
const stream =
  (text: string, ending: 'open' | 'end' | 'cut' = 'open'): Step =>
  res => {
    res.writeHead(200, { 'content-type': 'application/json' })
    res.flushHeaders()
    const finish = () => {
      if (ending === 'end') res.end()
      if (ending === 'cut') res.destroy()
    }
    if (text === '') finish()
    else res.write(text, finish)
  }

describe('Reflector', () => {
  let running: { fake: FakeKubeApiserver; reflector: Reflector } | undefined
  afterEach(async () => {
    running?.reflector.stop()
    await running?.fake.close()
  })
  const run = async (...options: Parameters<typeof start>) => {
    const started = await start(...options)
    running = started
    return started
  }
  const queriesOf = (fake: FakeKubeApiserver) =>
    fake.requests.map(request => Object.fromEntries(new URL(request.slice(4), 'http://x').searchParams))

  it('lists, then watches from that version, and reports every event', async () => {
    const { fake, received, synced } = await run({
      lists: [list(5, object('a', 1), object('b', 2))],
      watches: [stream(line('ADDED', object('c', 6)) + line('DELETED', object('a', 7)))],
    })
    await synced
    await until(() => received.length === 3)
    expect(received).to.deep.equal(['replace 5: a@1 b@2', 'connected', 'apply ADDED c@6, DELETED a@7'])
    const [listed, watched] = queriesOf(fake)
    expect(listed).to.deep.equal({ limit: '500' })
    const { timeoutSeconds, ...rest } = watched ?? {}
    expect(rest).to.deep.equal({ watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '5' })
    expect(Number(timeoutSeconds)).to.be.within(300, 600)
  })

  it('ends watches without bookmarks before the silence timeout', async () => {
    const { fake } = await run({ lists: [list(5)], watches: [stream('')], hasBookmarks: false })
    await until(() => fake.requests.length === 2)
    expect(Number(queriesOf(fake)[1]?.timeoutSeconds)).to.be.within(50, 75)
  })

  it('applies selectors to both list and watch', async () => {
    const query = { fieldSelector: 'metadata.name=x' }
    const { fake, synced } = await run({ lists: [list(5)], watches: [stream('')] }, query)
    await synced
    await until(() => fake.requests.length === 2)
    for (const asked of queriesOf(fake)) expect(asked).to.include(query)
  })

  it('concatenates the chunks of a long list', async () => {
    const chunk =
      (items: readonly unknown[], next?: string): Step =>
      res =>
        respondJson(res, 200, {
          kind: 'NodeList',
          apiVersion: 'v1',
          metadata: { resourceVersion: '5', ...(next === undefined ? {} : { continue: next }) },
          items,
        })
    const { fake, received, synced } = await run({
      lists: [chunk([object('a', 1)], 'to&2'), chunk([object('b', 2)], 'to3'), chunk([object('c', 3)])],
    })
    await synced
    expect(received[0]).to.equal('replace 5: a@1 b@2 c@3')
    expect(queriesOf(fake).map(query => query.continue)).to.deep.equal(
      [undefined, 'to&2', 'to3', undefined].slice(0, fake.requests.length),
    )
  })

  it('reports when a list began: objects written during the list may be missing', async () => {
    let askedAtMs = 0
    const slow: Step = async (res, url) => {
      askedAtMs = Date.now()
      await new Promise(resolve => setTimeout(resolve, 100))
      await list(5)(res, url)
    }
    const before = Date.now()
    const { began, synced } = await run({ lists: [slow] })
    await synced
    expect(began[0]).to.be.within(before, askedAtMs)
  })

  it('treats null as an empty list', async () => {
    const empty: Step = res =>
      respondJson(res, 200, {
        kind: 'NodeList',
        apiVersion: 'v1',
        metadata: { resourceVersion: '5' },
        items: null,
      })
    const { received, synced } = await run({ lists: [empty] })
    await synced
    expect(received[0]).to.equal('replace 5: ')
  })

  it('resumes an aborted stream from the last event, without a new list and without duplicates', async () => {
    const { fake, received } = await run({
      lists: [list(5, object('a', 1))],
      watches: [
        stream(line('MODIFIED', object('a', 6)) + line('MODIFIED', object('a', 7)), 'cut'),
        stream(line('MODIFIED', object('a', 8))),
      ],
    })
    await until(() => received.some(text => text.includes('a@8')))
    expect(queriesOf(fake).map(query => query.resourceVersion)).to.deep.equal([undefined, '5', '7'])
    expect(received.filter(text => /replace|apply/.test(text))).to.deep.equal([
      'replace 5: a@1',
      'apply MODIFIED a@6, MODIFIED a@7',
      'apply MODIFIED a@8',
    ])
    expect(received).to.include.members(['disconnected', 'connected'])
  })

  it('resumes a completed stream from its last bookmark', async () => {
    const mark = { kind: 'Node', metadata: { resourceVersion: '40' } }
    const { fake, received } = await run({
      lists: [list(5)],
      watches: [stream(line('BOOKMARK', mark), 'end'), stream('')],
    })
    await until(() => fake.requests.length === 3)
    expect(queriesOf(fake).at(-1)?.resourceVersion).to.equal('40')
    expect(received).to.not.include('disconnected')
  })

  for (const [what, gone] of [
    ['an ERROR event', stream(line('ERROR', expired), 'end')],
    ['a response', (res: ServerResponse) => respondJson(res, 410, expired)],
  ] as const) {
    it(`lists again when ${what} reports that the version has expired`, async () => {
      const { fake, received } = await run({
        lists: [list(5, object('a', 1)), list(90, object('b', 80))],
        watches: [gone, stream('')],
      })
      await until(() => fake.requests.length === 4)
      expect(received.filter(text => !text.includes('connected'))).to.deep.equal([
        'replace 5: a@1',
        'replace 90: b@80',
      ])
      expect(queriesOf(fake).at(-1)?.resourceVersion).to.equal('90')
    })
  }

  for (const code of [429, 500, 503]) {
    it(`retries the same version after ${code}`, async () => {
      const { fake, received } = await run({
        lists: [list(5)],
        watches: [res => respondJson(res, code, { code, message: 'busy' }), stream('')],
      })
      await until(() => fake.requests.length === 3)
      expect(queriesOf(fake).at(-1)?.resourceVersion).to.equal('5')
      expect(received).to.deep.include.members(['disconnected', `failed ${code}`])
    })
  }

  it('retries the same version after an event that cannot be parsed', async () => {
    const { fake, received } = await run({
      lists: [list(5)],
      watches: [stream(`${line('ADDED', object('a', 6))}`, 'open'), stream('')],
    })
    await until(() => received.length === 3)
    expect(fake.requests).to.have.length(2)
  })

  it('is not synced before the first list is complete, and retries until then', async () => {
    const { received, synced } = await run({
      lists: [
        res => respondJson(res, 503, {}),
        res => respondJson(res, 403, { message: 'not yet' }),
        list(5),
      ],
    })
    await synced
    expect(received.filter(text => !text.includes('connected'))).to.deep.equal([
      'failed 503',
      'failed 403',
      'replace 5: ',
    ])
  }).timeout(5_000)

  it('waits longer after each failure', async () => {
    const at: number[] = []
    const fail: Step = res => {
      at.push(Date.now())
      respondJson(res, 503, {})
    }
    const { fake } = await run({ lists: [fail, fail, fail] })
    await until(() => at.length === 2)
    expect(fake.requests).to.have.length(2)
    // The first delay is 400 ms with a jitter of 50 %.
    expect((at[1] ?? 0) - (at[0] ?? 0)).to.be.within(190, 700)
  })

  it('limits reconnects to a server that ends each watch immediately', async () => {
    const end = stream('', 'end')
    const { fake, synced } = await run({ lists: [list(5)], watches: Array.from({ length: 100 }, () => end) })
    await synced
    const { promise, resolve } = Promise.withResolvers<void>()
    setTimeout(resolve, 500)
    await promise
    expect(fake.requests.length).to.be.below(5)
  })

  it('stops immediately, and reports nothing more', async () => {
    const { fake, received, reflector, synced } = await run({ lists: [list(5)], watches: [stream('')] })
    await synced
    await until(() => received.includes('connected'))
    const before = [...received]
    reflector.stop()
    const { promise, resolve } = Promise.withResolvers<void>()
    setTimeout(resolve, 50)
    await promise
    expect(received).to.deep.equal(before)
    expect(fake.requests).to.have.length(2)
  })
})
