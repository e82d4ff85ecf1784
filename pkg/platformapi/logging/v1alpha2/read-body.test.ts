import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { renderKube } from '../../../apierrors/render-kube.ts'
import {
  type HttpResponse,
  type Loopback,
  readResponse,
  startLoopback,
} from '../../../apirequest/fixtures.ts'
import { readBody } from './read-body.ts'

const megabyte = 1024 * 1024

function toChunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

describe('readBody', () => {
  let loopback: Loopback | undefined
  const held: number[] = []
  const came: Buffer[] = []
  beforeEach(() => {
    held.length = 0
    came.length = 0
  })
  afterEach(() => loopback?.close())

  async function start(given: { withinMs?: number; limitBytes?: number } = {}) {
    const means = { limitBytes: 32 * megabyte, withinMs: 10_000, ...given }
    loopback = await startLoopback(async (req, res) => {
      try {
        const hold = (bytes: number) => held.push(bytes)
        came.push(await readBody(req, { ...means, mediaTypes: [], hold }))
        res.end()
      } catch (error) {
        renderKube(res, error)
      }
    })
  }

  function begin(length: number): { client: ClientRequest; response: Promise<HttpResponse> } {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
    const options = { host: '127.0.0.1', port: loopback?.port, method: 'POST', agent: false }
    const client = request({ ...options, headers: { 'content-length': length } }, res =>
      readResponse(res).then(resolve, reject),
    ).on('error', reject)
    client.flushHeaders()
    return { client, response: promise }
  }

  it('allocates for what has arrived, not for the declared length', async () => {
    await start()
    const { client, response } = begin(20 * megabyte)
    response.catch(() => undefined)
    const sent = 400 * 1024
    await new Promise(resolve => client.write(Buffer.alloc(sent), resolve))
    while (held.at(-1) !== sent) await new Promise(resolve => setTimeout(resolve, 5))
    client.destroy()
    expect(held).to.deep.equal(held.toSorted((a, b) => a - b))
  })

  it('reads all of a large body', async () => {
    await start()
    const body = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => i % 251))
    const { client, response } = begin(body.length)
    client.end(body)
    expect((await response).code).to.equal(200)
    expect(came.map(bytes => bytes.equals(body))).to.deep.equal([true])
    expect(held.at(-1)).to.equal(body.length)
  })

  const encodings: readonly (readonly [
    string,
    Readonly<Record<string, string>>,
    (bytes: Buffer) => Buffer,
  ])[] = [
    ['with a length', { 'content-length': String(40 * megabyte) }, bytes => bytes],
    ['in chunks', { 'transfer-encoding': 'chunked' }, bytes => toChunk(bytes)],
    ['compressed', { 'transfer-encoding': 'chunked', 'content-encoding': 'gzip' }, bytes => toChunk(bytes)],
  ]
  for (const [how, headers, encode] of encodings) {
    it(`returns 413 to a client that sends a large body ${how} and reads the response only afterwards`, async function () {
      this.timeout(60_000)
      await start({ limitBytes: megabyte })
      const client = connect(loopback?.port ?? 0, '127.0.0.1')
      client.on('error', () => undefined)
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      client.write(`POST / HTTP/1.1\r\nhost: a\r\n${lines.join('')}\r\n`)
      client.pause()
      const packed = gzipSync(Buffer.alloc(4 * megabyte))
      // Data after the end of a gzip stream is rejected.
      if (headers['content-encoding'] === 'gzip') client.write(encode(packed))
      const piece = encode(Buffer.alloc(megabyte, 'x'))
      for (let sent = 0; sent < 40; sent += 1) await new Promise(resolve => client.write(piece, resolve))
      if (headers['transfer-encoding'] === 'chunked') client.write('0\r\n\r\n')
      const first = once(client, 'data')
      client.resume()
      expect(String((await first)[0])).to.match(/^HTTP\/1\.1 413 /)
      client.destroy()
    })
  }

  it('returns 408 to a client that sends too slowly, and closes the connection', async () => {
    await start({ withinMs: 50 })
    const { client, response } = begin(100)
    client.write('x')
    const { code, headers, text } = await response
    expect([code, headers.connection, JSON.parse(text).message]).to.deep.equal([
      408,
      'close',
      'timed out reading the request body (0.05 s)',
    ])
  })
})
