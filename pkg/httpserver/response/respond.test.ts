import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Listener, type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import { createTimeSlices } from '../../scheduling/time-slices.ts'
import { acceptsGzip, collect, pieceBytes, send, sendChunks, sendJson, sendParts } from './respond.ts'

describe('respond', () => {
  let loopback: Loopback | undefined
  const serve = async (listener: Listener) => {
    loopback = await startLoopback(listener)
    return loopback
  }
  afterEach(() => loopback?.close())

  describe('send', () => {
    it('writes status, length and body, and forbids caching', async () => {
      const { get } = await serve((_req, res) => send(res, 203, Buffer.from('grün'), { 'x-a': 'b' }))
      const { code, headers, text } = await get('/')
      expect({ code, text }).to.deep.equal({ code: 203, text: 'grün' })
      expect(headers).to.include({ 'content-length': '5', 'cache-control': 'no-cache, private', 'x-a': 'b' })
    })

    it('lets the handler set another Cache-Control', async () => {
      const { get } = await serve((_req, res) =>
        send(res, 200, Buffer.from(''), { 'cache-control': 'public' }),
      )
      expect((await get('/')).headers['cache-control']).to.equal('public')
    })
  })

  describe('send and sendParts', () => {
    const large = Buffer.alloc(8 * 1024 * 1024, 'x')
    const ways = {
      send: (res: ServerResponse) => send(res, 200, large, {}),
      sendParts: (res: ServerResponse) =>
        sendParts(res, 200, [Buffer.from('a'), large, Buffer.from('b')], {}),
    }
    for (const [name, write] of Object.entries(ways)) {
      it(`${name} writes one chunk of a large body to a connection that is not read, and no more`, async () => {
        let response: ServerResponse | undefined
        const { open } = await serve((_req, res) => {
          response = res
          write(res)
        })
        const res = await open('/')
        res.pause()
        await sleep(200)
        expect(response?.writableLength).to.be.below(2 * pieceBytes)
        const { length } = Buffer.concat(await res.toArray())
        expect(length).to.equal(Number(res.headers['content-length']))
      })
    }

    it('respond to HEAD with only the length', async () => {
      const { get } = await serve((_req, res) => send(res, 200, large, {}))
      const { headers, body } = await get('/', { method: 'HEAD' })
      expect([headers['content-length'], body.length]).to.deep.equal([String(large.length), 0])
    })
  })

  describe('sendJson', () => {
    it('ends with a line feed', async () => {
      const { get } = await serve((_req, res) => sendJson(res, 200, { a: [1] }))
      const { headers, text } = await get('/')
      expect(text).to.equal('{"a":[1]}\n')
      expect(headers['content-type']).to.equal('application/json')
    })
  })

  describe('sendChunks', () => {
    it('writes all chunks in order', async () => {
      const pieces = Array.from({ length: 300 }, (_, i) => Buffer.alloc(1000, i % 256))
      const { get } = await serve((_req, res) => sendChunks(res, pieces, { 'x-a': 'b' }, createTimeSlices()))
      const { code, headers, body } = await get('/')
      expect(code).to.equal(200)
      expect(headers['x-a']).to.equal('b')
      expect(body.equals(Buffer.concat(pieces))).to.equal(true)
    })

    it('writes an empty body', async () => {
      const { get } = await serve((_req, res) => sendChunks(res, [], {}, createTimeSlices()))
      expect(await get('/')).to.include({ code: 200, text: '' })
    })

    it('produces chunks no faster than the client reads them', async () => {
      let made = 0
      function* pieces() {
        for (; made < 2000; made++) yield Buffer.alloc(64 * 1024)
      }
      const { open } = await serve((_req, res) => sendChunks(res, pieces(), {}, createTimeSlices()))
      const res = await open('/')
      res.pause()
      await sleep(100)
      expect(made).to.be.below(1000)
      res.destroy()
    })

    it('stops when the client disconnects', async () => {
      let made = 0
      const finished = Promise.withResolvers<void>()
      function* pieces() {
        for (; made < 2000; made++) yield Buffer.alloc(64 * 1024)
      }
      const { open } = await serve((_req, res) =>
        sendChunks(res, pieces(), {}, createTimeSlices()).then(finished.resolve),
      )
      const res = await open('/')
      await once(res, 'data')
      res.destroy()
      await finished.promise
      expect(made).to.be.below(2000)
    })

    it('yields to other requests between chunks', async () => {
      const timeSlices = createTimeSlices()
      function* pieces() {
        for (let i = 0; i < 100; i++) {
          const until = performance.now() + 5
          while (performance.now() < until);
          yield Buffer.from('x')
        }
      }
      const { get } = await serve((req, res) =>
        req.url === '/long'
          ? sendChunks(res, pieces(), {}, timeSlices)
          : send(res, 200, Buffer.from('short'), {}),
      )
      let isDone = false
      const long = get('/long').then(() => {
        isDone = true
      })
      await sleep(30)
      await get('/short')
      expect(isDone).to.equal(false)
      await long
    })

    it('delays a short request by a few time slices, not by one for each long response', async () => {
      const timeSlices = createTimeSlices()
      let made = 0
      function* pieces() {
        for (let i = 0; i < 8; i++) {
          const until = performance.now() + 2
          while (performance.now() < until);
          made++
          yield Buffer.from('x')
        }
      }
      const { get } = await serve((req, res) =>
        req.url === '/long'
          ? sendChunks(res, pieces(), {}, timeSlices)
          : send(res, 200, Buffer.from('short'), {}),
      )
      const long = Promise.all(Array.from({ length: 100 }, () => get('/long')))
      // Waits until all responses have begun.
      while (made < 200) await sleep(5)
      const before = made
      await get('/short')
      expect(made - before).to.be.below(50)
      await long
    }).timeout(60_000)

    it('leaves no listeners on a slow connection', async () => {
      let response: ServerResponse | undefined
      let before = 0
      let most = 0
      function* pieces() {
        for (let i = 0; i < 100; i++) {
          most = Math.max(most, response?.listenerCount('close') ?? 0)
          yield Buffer.alloc(256 * 1024)
        }
      }
      const { get } = await serve((_req, res) => {
        response = res
        before = res.listenerCount('close')
        return sendChunks(res, pieces(), {}, createTimeSlices())
      })
      await get('/')
      expect(most - before).to.be.below(3)
    })
  })

  describe('collect', () => {
    it('collects all items in order and lets timers run in between', async () => {
      let ticks = 0
      const timer = setInterval(() => ticks++, 1)
      function* slow() {
        for (let i = 0; i < 20; i++) {
          const until = performance.now() + 5
          while (performance.now() < until);
          yield i
        }
      }
      expect(await collect(slow())).to.deep.equal(Array.from({ length: 20 }, (_, i) => i))
      clearInterval(timer)
      expect(ticks).to.be.above(2)
    })
  })

  describe('acceptsGzip', () => {
    const table: readonly [string | undefined, boolean][] = [
      [undefined, false],
      ['', false],
      ['identity', false],
      ['gzip', true],
      ['GZIP', true],
      ['gzip, deflate, br', true],
      ['br;q=1.0, gzip;q=0.5', true],
      ['gzip ; q=1', true],
      ['gzip;q=1.000', true],
      ['*', true],
      ['gzip;q=0.001', true],
      ['gzip;q=0', false],
      ['gzip;q=0.000', false],
      ['*;q=0', false],
      ['deflate, br', false],
      ['xgzip', false],
      ['gzip2', false],
      // The named coding takes precedence over the wildcard (RFC 9110 section 12.5.3).
      ['gzip;q=0, *', false],
      ['*;q=0, gzip', true],
      ['gzip;q=0.', false],
      ['gzip;q=2', false],
      ['gzip;q=', false],
      ['gzip;q=0.5x', false],
      ['gzip;q=1;q=1', false],
    ]
    for (const [header, expected] of table) {
      it(`returns ${expected} for ${header}`, async () => {
        const { get } = await serve((req, res) => sendJson(res, 200, acceptsGzip(req)))
        const headers: Record<string, string> = header === undefined ? {} : { 'accept-encoding': header }
        expect((await get('/', { headers })).text).to.equal(`${expected}\n`)
      })
    }

    it('parses a weight of many digits quickly', async () => {
      const { get } = await serve((req, res) => {
        const startedAt = process.threadCpuUsage()
        const isAccepted = acceptsGzip(req)
        sendJson(res, 200, { isAccepted, isQuick: process.threadCpuUsage(startedAt).user < 1_000_000 })
      })
      const responses = []
      for (const digits of ['1'.repeat(15_000), '0'.repeat(15_000)]) {
        const { text } = await get('/', { headers: { 'accept-encoding': `gzip;q=0.${digits}x` } })
        responses.push(JSON.parse(text))
      }
      const expected = { isAccepted: false, isQuick: true }
      expect(responses).to.deep.equal([expected, expected])
    })
  })
})
