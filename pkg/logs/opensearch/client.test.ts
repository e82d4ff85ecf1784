import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { expect } from 'chai'
import { rejectedStatus } from '../../apierrors/fixtures.ts'
import { closeServer, portOf } from '../../apirequest/fixtures.ts'
import { createCa, issueCertificate } from '../../certs/issue.ts'
import { BodyTooLargeError } from '../../http/read-body.ts'
import { createSearchClient, type SearchClient } from './client.ts'

const caPair = createCa({ commonName: 'search', validityDays: 2 })
const serving = issueCertificate(caPair, {
  commonName: 'localhost',
  ipAddresses: ['127.0.0.1'],
  usages: ['server'],
  validityDays: 1,
})
const none = { password: '', apiKey: '' }
const call = { method: 'GET', path: '/x', timeoutMs: 2000 } as const

type Listener = (req: IncomingMessage, res: ServerResponse) => unknown

// Uses a fake search engine, for failures that a real one cannot be made to show.
describe('createSearchClient', () => {
  let server: ReturnType<typeof createHttpServer> | ReturnType<typeof createHttpsServer> | undefined
  let client: SearchClient | undefined
  afterEach(async () => {
    await client?.close()
    if (server) await closeServer(server)
  })

  async function start(
    listener: Listener,
    given: { tls?: boolean; username?: string; ca?: string } = {},
    credentials = none,
  ) {
    const { tls = false, username = '', ca = '' } = given
    const handle = (req: IncomingMessage, res: ServerResponse) => void listener(req, res)
    server = tls
      ? createHttpsServer({ cert: serving.certPem, key: serving.keyPem }, handle)
      : createHttpServer(handle)
    const { promise, resolve } = Promise.withResolvers<void>()
    server.listen(0, '127.0.0.1', resolve)
    await promise
    const url = `${tls ? 'https' : 'http'}://127.0.0.1:${portOf(server)}`
    client = createSearchClient({ url, username, ca }, credentials)
    return client
  }

  const respond = (code: number, body: unknown): Listener => {
    return (_, res) => res.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const error = (type: string, reason: string) => ({
    error: { root_cause: [{ type, reason }], type: 'outer', reason: 'outer' },
  })

  const faults: readonly [what: string, listener: Listener, code: number, message: string][] = [
    [
      'an overloaded engine',
      respond(429, error('circuit_breaking_exception', 'Data too large')),
      429,
      'the log store is overloaded',
    ],
    [
      'a full disk',
      respond(
        429,
        error('cluster_block_exception', 'index [a] blocked by: [disk usage exceeded flood-stage watermark]'),
      ),
      507,
      'the log store rejects new lines: cluster_block_exception: index [a] blocked by: [disk usage exceeded flood-stage watermark]',
    ],
    [
      'wrong credentials',
      respond(401, error('security_exception', 'x')),
      503,
      'the log store rejected the credentials of Kapis',
    ],
    [
      'a query that is too large',
      respond(400, error('too_many_clauses', 'maxClauseCount is set to 1024')),
      400,
      'the log store rejected the query: too_many_clauses: maxClauseCount is set to 1024',
    ],
    [
      'a query that exceeds the time limit',
      respond(500, error('query_phase_execution_exception', 'Time exceeded')),
      504,
      'the log query timed out',
    ],
    [
      'a query that exceeds the time limit of Elasticsearch 9',
      respond(429, error('search_timeout_exception', 'Time exceeded')),
      504,
      'the log query timed out',
    ],
    [
      'an internal error of the engine',
      respond(500, error('search_phase_execution_exception', 'all shards failed')),
      503,
      'the log store responded with 500: search_phase_execution_exception: all shards failed',
    ],
    [
      'a response without a reason',
      respond(502, 'Bad Gateway'),
      503,
      'the log store responded with 502: no reason given',
    ],
    [
      'a broken connection',
      (req: IncomingMessage) => req.socket.destroy(),
      503,
      'the log store is not responding',
    ],
    ['silence', () => undefined, 504, 'the log query timed out'],
    [
      'a truncated response',
      (_, res) => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': 10 }).write('{')
        setImmediate(() => res.destroy())
      },
      503,
      'the log store is not responding',
    ],
    [
      'a response that is not JSON',
      (_, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"a"'),
      503,
      'the log store is not responding',
    ],
  ]
  for (const [what, listener, code, message] of faults) {
    it(`returns ${code} to ${what}`, async () => {
      const asked = await start(listener)
      const status = await rejectedStatus(asked.call({ ...call, timeoutMs: 300 }))
      expect([status.code, status.message]).to.deep.equal([code, message])
    })
  }

  it('authenticates with user and password, or with an API key, and logs neither', async () => {
    const received: unknown[] = []
    const listener: Listener = (req, res) => {
      received.push(req.headers.authorization)
      respond(500, {})(req, res)
    }
    const basic = await start(listener, { username: 'kapis' }, { ...none, password: 's3cret' })
    const status = await rejectedStatus(basic.call(call))
    const logged = JSON.stringify([
      status,
      status.cause,
      String(status.cause),
      Object.entries(status.cause ?? {}),
    ])
    expect(logged).to.not.include('s3cret').and.not.include(Buffer.from('kapis:s3cret').toString('base64'))
    await basic.close()
    if (server) await closeServer(server)
    await rejectedStatus((await start(listener, {}, { ...none, apiKey: 'k3y' })).call(call))
    expect(received).to.deep.equal([`Basic ${Buffer.from('kapis:s3cret').toString('base64')}`, 'ApiKey k3y'])
  })

  it('trusts the configured CA, and no other', async () => {
    const trusting = await start(respond(200, { ok: true }), { tls: true, ca: caPair.certPem })
    expect(await trusting.call(call)).to.deep.equal({ ok: true })
    await trusting.close()
    if (server) await closeServer(server)
    const other = createCa({ commonName: 'other', validityDays: 2 })
    const wary = await start(respond(200, { ok: true }), { tls: true, ca: other.certPem })
    expect(await rejectedStatus(wary.call(call))).to.have.property('code', 503)
  })

  it('preserves numbers that do not fit into a double', async () => {
    const listener: Listener = (_, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"sort":[1589644842608962453,7]}')
    expect(await (await start(listener)).call(call)).to.deep.equal({ sort: [1589644842608962453n, 7] })
  })

  it('parses records whose fields are named like properties of Object.prototype', async () => {
    const json = '{"fields":{"__proto__":"x","constructor":{"prototype":1},"toString":"y"}}'
    const listener: Listener = (_, res) =>
      res.writeHead(200, { 'content-type': 'application/json; charset=UTF-8' }).end(json)
    expect(JSON.stringify(await (await start(listener)).call(call))).to.equal(json)
  })

  it('limits the size of a response and the time to receive it', async () => {
    const large = await start((_, res) => {
      res.writeHead(200, { 'content-type': 'application/json' })
      const write = () => {
        while (!res.destroyed && res.write('x'.repeat(65_536)));
        if (!res.destroyed) res.once('drain', write)
      }
      write()
    })
    const error = await large.call({ ...call, maxBytes: 1_000_000 }).catch(reason => reason)
    expect(error).to.be.instanceOf(BodyTooLargeError)
    await large.close()
    if (server) await closeServer(server)
    const slow = await start((_, res) => void res.writeHead(200).write('{'))
    expect(await rejectedStatus(slow.call({ ...call, timeoutMs: 200 }))).to.include({
      code: 504,
      message: 'the log query timed out',
    })
  })

  it('cancels requests of disconnected clients, and sends at most sixteen concurrently', async () => {
    let open = 0
    let most = 0
    const listener: Listener = async (req, res) => {
      most = Math.max(most, ++open)
      req.on('close', () => open--)
      setTimeout(() => respond(200, {})(req, res), 20)
    }
    const busy = await start(listener)
    await Promise.all(Array.from({ length: 50 }, () => busy.call(call)))
    expect(most).to.be.within(2, 16)
    const abort = new AbortController()
    const waiting = busy.call({ ...call, signal: abort.signal })
    abort.abort(new Error('gone'))
    expect(await waiting.catch(reason => reason.message)).to.equal('gone')
  })

  it('stores lines while the maximum number of searches is running', async () => {
    const busy = await start((req, res) => {
      if (req.url === '/_bulk') respond(200, { items: [] })(req, res)
    })
    const ending = new AbortController()
    const searches = Array.from({ length: 16 }, () => busy.call({ ...call, signal: ending.signal }))
    const stored = await busy.call({ method: 'POST', path: '/_bulk', lines: '{}\n', timeoutMs: 2000 })
    expect(stored).to.deep.equal({ items: [] })
    ending.abort()
    await Promise.allSettled(searches)
  })

  it('cancels searches that the engine has started, without ending others', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const asked = await start(req => {
      req.socket.once('close', () => close())
      arrive()
    })
    const uncaught: unknown[] = []
    const note = (error: unknown) => uncaught.push(error)
    const others = process.rawListeners('uncaughtException').map(listener => listener as () => void)
    process.removeAllListeners('uncaughtException').on('uncaughtException', note)
    try {
      const abort = new AbortController()
      const waiting = asked.call({ ...call, signal: abort.signal })
      await arrived
      abort.abort(new Error('gone'))
      expect(await waiting.catch(reason => reason.message)).to.equal('gone')
      await closed
    } finally {
      process.off('uncaughtException', note)
      for (const listener of others) process.on('uncaughtException', listener)
    }
    expect(uncaught).to.deep.equal([])
  })
})
