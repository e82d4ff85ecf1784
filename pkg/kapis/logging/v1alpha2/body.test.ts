import { type ClientRequest, request } from 'node:http'
import { expect } from 'chai'
import { type Answer, type Loopback, readAnswer, startLoopback } from '../../../request/fixtures.ts'
import { renderKube } from '../../../status/render-kube.ts'
import { readBody } from './body.ts'

const megabyte = 1024 * 1024

describe('readBody', () => {
  let loopback: Loopback | undefined
  const held: number[] = []
  const came: Buffer[] = []
  beforeEach(() => {
    held.length = 0
    came.length = 0
  })
  afterEach(() => loopback?.close())

  async function start(given: { withinMs?: number } = {}) {
    const means = { limitBytes: 32 * megabyte, withinMs: 10_000, ...given }
    loopback = await startLoopback(async (req, res) => {
      try {
        const hold = (bytes: number) => held.push(bytes)
        came.push(await readBody(req, { ...means, mediaTypes: [], hold }))
        res.end()
      } catch (error) {
        res.shouldKeepAlive = false
        renderKube(res, error)
      }
    })
  }

  function begin(length: number): { client: ClientRequest; answer: Promise<Answer> } {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const options = { host: '127.0.0.1', port: loopback?.port, method: 'POST', agent: false }
    const client = request({ ...options, headers: { 'content-length': length } }, res =>
      readAnswer(res).then(resolve, reject),
    ).on('error', reject)
    client.flushHeaders()
    return { client, answer: promise }
  }

  it('holds what has arrived, not what is promised', async () => {
    await start()
    const { client, answer } = begin(20 * megabyte)
    answer.catch(() => undefined)
    const sent = 400 * 1024
    await new Promise(resolve => client.write(Buffer.alloc(sent), resolve))
    while (held.at(-1) !== sent) await new Promise(resolve => setTimeout(resolve, 5))
    client.destroy()
    expect(held).to.deep.equal(held.toSorted((a, b) => a - b))
  })

  it('loses nothing of a large one', async () => {
    await start()
    const body = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => i % 251))
    const { client, answer } = begin(body.length)
    client.end(body)
    expect((await answer).code).to.equal(200)
    expect(came.map(bytes => bytes.equals(body))).to.deep.equal([true])
    expect(held.at(-1)).to.equal(body.length)
  })

  it('answers 408 to who does not send it in time, and ends the connection', async () => {
    await start({ withinMs: 50 })
    const { client, answer } = begin(100)
    client.write('x')
    const { code, headers, text } = await answer
    expect([code, headers.connection, JSON.parse(text).message]).to.deep.equal([
      408,
      'close',
      'the body did not come within 0.05 s',
    ])
  })
})
