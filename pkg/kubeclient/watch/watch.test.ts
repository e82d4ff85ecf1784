import { createServer, get, type IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { rejectedStatus, toErrorFields } from '../../apierrors/fixtures.ts'
import { type ReceivedEvent, readWatch } from './watch.ts'

const object = (name: string, version: string) => ({
  metadata: {
    name,
    uid: name,
    resourceVersion: version,
    creationTimestamp: '',
    labels: { city: 'Zürich 証明書 🎉' },
  },
})
const line = (type: string, of: unknown) => `${JSON.stringify({ type, object: of })}\n`

/** Returns the events of a stream that arrives in the given pieces. */
async function read(
  pieces: readonly Buffer[],
  ending: 'end' | 'cut' = 'end',
): Promise<readonly (readonly ReceivedEvent[])[]> {
  const server = createServer(async (_req, res) => {
    res.flushHeaders()
    for (const piece of pieces) {
      const written = Promise.withResolvers<void>()
      // One event-loop turn between two pieces makes them arrive separately.
      res.write(piece, () => setImmediate(written.resolve))
      await written.promise
    }
    if (ending === 'end') res.end()
    else res.destroy()
  })
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const opened = Promise.withResolvers<IncomingMessage>()
  get({ host: '127.0.0.1', port, agent: false }, opened.resolve).on('error', opened.reject)
  try {
    const batches: (readonly ReceivedEvent[])[] = []
    for await (const events of readWatch(await opened.promise)) batches.push(events)
    return batches
  } finally {
    server.close()
  }
}

describe('readWatch', () => {
  const received = (type: string, of: unknown) => ({ type, object: of, json: JSON.stringify(of) })
  const events = [
    received('ADDED', object('a', '1')),
    received('MODIFIED', object('a', '2')),
    received('DELETED', object('b', '3')),
  ]
  const bytes = Buffer.from(events.map(event => line(event.type, event.object)).join(''))

  it('returns together the events that arrive together', async () => {
    expect(await read([bytes])).to.deep.equal([events])
  })

  it('parses a stream split at any byte, also within a character', async () => {
    const cuts = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1)
    for (let i = 0; i < cuts.length; i += 40) {
      const batch = cuts.slice(i, i + 40)
      const readings = batch.map(cut => read([bytes.subarray(0, cut), bytes.subarray(cut)]))
      for (const batches of await Promise.all(readings)) expect(batches.flat()).to.deep.equal(events)
    }
  }).timeout(10_000)

  it('parses a stream that arrives byte by byte', async () => {
    const pieces = Array.from(bytes, byte => Buffer.from([byte]))
    expect((await read(pieces)).flat()).to.deep.equal(events)
  })

  it('skips empty lines', async () => {
    expect((await read([Buffer.from(`\n\n${line('ADDED', object('a', '1'))}\n`)])).flat()).to.have.length(1)
  })

  it('returns the version of a bookmark, without a name', async () => {
    const mark = { kind: 'Node', metadata: { resourceVersion: '12746', creationTimestamp: null } }
    expect((await read([Buffer.from(line('BOOKMARK', mark))])).flat()).to.deep.equal([
      {
        type: 'BOOKMARK',
        object: { metadata: { name: '', uid: '', creationTimestamp: '', resourceVersion: '12746' } },
        json: '',
      },
    ])
  })

  it('drops an event that the end of the stream truncates', async () => {
    const whole = Buffer.from(line('ADDED', object('a', '1')))
    expect(await read([whole, whole.subarray(0, -1)])).to.deep.equal([[received('ADDED', object('a', '1'))]])
  })

  const exact = '{"metadata":{"name":"a","resourceVersion":"1"},"n":9007199254740993,"10":1.0,"9":"\\u003c"}'
  for (const written of [
    `{"type":"ADDED","object":${exact}}`,
    `{"object":${exact},"type":"ADDED"}`,
    `{"type":"ADDED","object":${exact},"more":{}}`,
    ` { "type" : "ADDED" , "object" : ${exact} } `,
  ]) {
    it(`preserves the text of the object in ${written.slice(0, 25)}…`, async () => {
      const [event] = (await read([Buffer.from(`${written}\n`)])).flat()
      expect(event?.json).to.equal(exact)
    })
  }

  it('ends with the Status of an ERROR event', async () => {
    const status = {
      kind: 'Status',
      code: 410,
      reason: 'Expired',
      message: 'too old resource version: 1 (5)',
      details: { kind: 'nodes' },
    }
    const error = await rejectedStatus(read([Buffer.from(line('ERROR', status))]))
    expect(toErrorFields(error)).to.deep.equal({
      code: 410,
      reason: 'Expired',
      message: 'too old resource version: 1 (5)',
    })
    expect(error.details).to.deep.equal({ kind: 'nodes' })
  })

  for (const thing of [undefined, null, 'text', {}]) {
    it(`treats an ERROR event with ${JSON.stringify(thing)} as a server error`, async () => {
      expect(toErrorFields(await rejectedStatus(read([Buffer.from(line('ERROR', thing))])))).to.deep.equal({
        code: 500,
        reason: 'InternalError',
        message: 'watch error',
      })
    })
  }

  const broken: readonly [string, string, RegExp][] = [
    ['no JSON', '{"type":\n', /JSON/],
    ['a missing object', '[]\n', /^a watch event is not an object$/],
    ['an unknown type', line('RENAMED', object('a', '1')), /^invalid watch event of type "RENAMED"$/],
    ['an object without a name', line('ADDED', { metadata: {} }), /^invalid watch event of type "ADDED"$/],
    ['a bookmark without metadata', line('BOOKMARK', {}), /^invalid watch event of type "BOOKMARK"$/],
  ]
  for (const [what, text, message] of broken) {
    it(`fails for ${what}`, async () => {
      const error = await read([Buffer.from(text)]).then(
        () => undefined,
        (thrown: Error) => thrown,
      )
      expect(error?.message).to.match(message)
    })
  }

  it('fails when the connection closes early', async () => {
    const error = await read([bytes], 'cut').then(
      () => undefined,
      (thrown: NodeJS.ErrnoException) => thrown,
    )
    expect(error?.code).to.equal('ECONNRESET')
  })
})
