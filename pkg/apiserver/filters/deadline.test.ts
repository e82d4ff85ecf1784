import { request } from 'node:http'
import { expect } from 'chai'
import { type Listener, type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { withDeadline } from './deadline.ts'

describe('withDeadline', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function start(seconds: number, serve: Listener): Promise<Loopback> {
    loopback = await startLoopback((req, res) => {
      withDeadline(toExchange(req, res), seconds)
      return serve(req, res)
    })
    return loopback
  }

  it('returns 504 when no response starts in time', async () => {
    const { get } = await start(0.05, () => undefined)
    const { code, text } = await get('/api/v1/pods')
    expect([code, JSON.parse(text)]).to.deep.equal([
      504,
      {
        ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
        message: 'Timeout: request did not complete within the allotted timeout',
        ...{ reason: 'Timeout', details: {}, code: 504 },
      },
    ])
  })

  it('uses a shorter ?timeout=', async () => {
    const { get } = await start(60, () => undefined)
    expect((await get('/api/v1/pods?timeout=50ms')).code).to.equal(504)
  })

  for (const timeout of ['1h', '0s', 'soon', '-1s', '']) {
    it(`ignores ?timeout=${timeout}`, async () => {
      const { get } = await start(0.05, () => undefined)
      expect((await get(`/api/v1/pods?timeout=${timeout}`)).code).to.equal(504)
    })
  }

  it('lets a started response continue', async () => {
    const { get } = await start(0.05, (_req, res) => {
      res.writeHead(200).flushHeaders()
      setTimeout(() => res.end('slowly'), 200)
    })
    expect((await get('/api/v1/pods')).text).to.equal('slowly')
  })

  it('closes the connection of a body that arrives too slowly', async () => {
    const { port } = await start(0.1, req => req.resume())
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const req = request(
      { port, host: '127.0.0.1', path: '/api/v1/pods', method: 'POST', agent: false },
      res => {
        res.resume().once('close', () => resolve([res.statusCode, res.headers.connection]))
      },
    )
    const drip = setInterval(() => req.write('x'), 20)
    req.on('error', () => undefined)
    expect(await promise).to.deep.equal([504, 'close'])
    clearInterval(drip)
    req.destroy()
  })

  it('does nothing after it was cancelled', async () => {
    loopback = await startLoopback((req, res) => {
      withDeadline(toExchange(req, res), 0.05)()
      setTimeout(() => res.end('late'), 200)
    })
    expect((await loopback.get('/api/v1/pods')).text).to.equal('late')
  })
})
