import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { unavailable } from '../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { createMemoryStore, record } from '../../logs/fixtures.ts'
import type { Hit, LogStore } from '../../logs/store.ts'
import { sendFollow } from './follow.ts'

const long: Hit = { record: record({ log: 'x'.repeat(100_000) }), cursor: '1' }

describe('sendFollow', () => {
  const times = { stalledMs: 300, permissionEveryMs: 20, uncheckedMs: 200 }
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  /** Follows the hits of a store. The second result is the error or result of the handler. */
  async function follow(
    hits: (signal: AbortSignal) => AsyncIterable<readonly Hit[]>,
    isPermitted = async () => true,
  ): Promise<readonly [IncomingMessage | undefined, Promise<unknown>]> {
    const ended = Promise.withResolvers<unknown>()
    const store: LogStore = { ...createMemoryStore(), follow: (_, signal) => hits(signal) }
    loopback = await startLoopback((req, res) => {
      const left = new AbortController()
      res.once('close', () => left.abort())
      const request = { filter: { scope: [] }, size: 0, withCursor: false, isPermitted }
      const limits = { timeoutMs: 1000, signal: left.signal, ...times }
      sendFollow(store, toExchange(req, res), request, limits).then(ended.resolve, error => {
        res.destroy()
        ended.resolve(error)
      })
    })
    return [await loopback.open('/logs?follow=true'), ended.promise]
  }

  it('disconnects a client that does not read', async () => {
    let sent = 0
    const [response, ended] = await follow(async function* () {
      for (;;) {
        sent += 1
        yield [long]
      }
    })
    response?.pause()
    expect(await Promise.race([ended, sleep(5000, 'still open')])).to.equal(undefined)
    expect(sent).to.be.below(1000)
  })

  it('keeps a client that reads slowly', async () => {
    let sent = 0
    const [response] = await follow(async function* () {
      for (; sent < 80; sent += 1) yield [long]
    })
    let bytes = 0
    for await (const chunk of response ?? []) {
      bytes += chunk.length
      await sleep(5)
    }
    expect(bytes).to.be.above(80 * 100_000)
  })

  async function* quiet(signal: AbortSignal): AsyncGenerator<readonly Hit[]> {
    await sleep(10_000, undefined, { signal }).catch(() => undefined)
  }

  it('ends when the permission is revoked', async () => {
    const [response, ended] = await follow(quiet, async () => false)
    expect(await response?.toArray()).to.deep.equal([])
    expect(await ended).to.equal(undefined)
  })

  const unchecked: Readonly<Record<string, () => Promise<boolean>>> = {
    'cannot be checked': () => Promise.reject(unavailable('kube-apiserver is not responding')),
    'takes too long to be checked': () => new Promise(() => undefined),
  }
  for (const [what, isPermitted] of Object.entries(unchecked)) {
    it(`aborts the response when the permission ${what}, so that it does not look complete`, async () => {
      const [response, ended] = await follow(quiet, isPermitted)
      const read = await response?.toArray().catch((error: unknown) => error)
      expect(read).to.be.instanceOf(Error).with.property('code', 'ECONNRESET')
      expect(await ended).to.deep.include({
        ...{ code: 503, message: 'failed to check the permissions of the caller' },
      })
    })
  }

  it('continues when the permission can be checked again', async () => {
    let count = 0
    const [response, ended] = await follow(
      async function* (signal) {
        await sleep(500, undefined, { signal })
        yield [long]
      },
      async () => {
        count += 1
        if (count % 5 !== 0) throw unavailable('kube-apiserver is not responding')
        return true
      },
    )
    expect((await response?.toArray())?.join('')).to.have.length.above(100_000)
    expect(await ended).to.equal(undefined)
  })

  it('aborts the response when the store fails, so that it does not look complete', async () => {
    const failure = unavailable('the log store was interrupted; try again')
    const [response, ended] = await follow(async function* () {
      yield [long]
      await sleep(20)
      throw failure
    })
    const read = await response?.toArray().catch((error: unknown) => error)
    expect(read).to.be.instanceOf(Error).with.property('code', 'ECONNRESET')
    expect(await ended).to.equal(failure)
  })
})
