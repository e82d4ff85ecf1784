import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { type Loopback, startLoopback } from '../apirequest/fixtures.ts'
import { hooksOf, requestHooksOf } from './hooked-message.ts'
import { http } from './node-http.ts'

describe('HookedResponse', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  const responses: readonly (readonly [
    what: string,
    respond: (res: ServerResponse) => unknown,
    code: number,
    text: string,
  ])[] = [
    ['a head and a body', res => res.writeHead(201, { x: 'y' }).end('text'), 201, 'text'],
    [
      'a head as a list, and chunks',
      res => res.writeHead(202, 'Fine', ['x', 'y']).write('te') && res.end('xt'),
      202,
      'text',
    ],
    ['only a body', res => res.end(Buffer.from('text')), 200, 'text'],
    ['a body in another encoding', res => res.end('74657874', 'hex'), 200, 'text'],
    ['a body and a callback', res => res.end('text', () => undefined), 200, 'text'],
    ['nothing', res => res.end(), 200, ''],
  ]
  for (const [what, respond, code, text] of responses) {
    it(`calls back once with the headers, and with each chunk: ${what}`, async () => {
      const codes: number[] = []
      let observed = ''
      loopback = await startLoopback((_req, res) => {
        const hooks = hooksOf(res)
        hooks.addToHead('audit-id', 'id-1')
        hooks.onHead(given => codes.push(given))
        hooks.onChunk(bytes => {
          observed += bytes
        })
        respond(res)
      })
      const response = await loopback.get('/')
      expect([response.code, response.text, response.headers['audit-id']]).to.deep.equal([code, text, 'id-1'])
      expect([codes, observed]).to.deep.equal([[code], text])
    })
  }

  it('copies the chunks of a body, which the caller may overwrite later', async () => {
    const observed: Buffer[] = []
    loopback = await startLoopback((_req, res) => {
      hooksOf(res).onChunk(bytes => observed.push(bytes))
      const bytes = Buffer.from('text')
      res.write(bytes, () => {
        bytes.fill('!')
        res.end()
      })
    })
    await loopback.get('/')
    expect(String(Buffer.concat(observed))).to.equal('text')
  })

  it('is the response class of a server with this option', () => {
    const req: IncomingMessage = Object.create(http.IncomingMessage.prototype)
    expect(() => hooksOf(new http.ServerResponse(req))).to.throw(TypeError)
    expect(() => requestHooksOf(req)).to.throw(TypeError)
  })
})

describe('HookedRequest', () => {
  it('calls back with each chunk, while the handler reads at its own speed', async () => {
    let observed = ''
    const loopback = await startLoopback(async (req, res) => {
      requestHooksOf(req).onChunk(bytes => {
        observed += bytes
      })
      await new Promise(resolve => setTimeout(resolve, 20))
      let read = ''
      for await (const chunk of req) read += chunk
      res.end(read)
    })
    const response = await fetch(`http://127.0.0.1:${loopback.port}/`, {
      method: 'POST',
      body: 'x'.repeat(200_000),
    })
    const text = await response.text()
    await loopback.close()
    expect([text.length, observed.length]).to.deep.equal([200_000, 200_000])
  })
})
