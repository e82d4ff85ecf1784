import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { closeServer, portOf } from '../apirequest/fixtures.ts'
import { createCa, issueCertificate } from '../certs/issue.ts'
import { createPool, type Dispatcher, type PoolOptions, ReloadingPool, type TlsOptions } from './pool.ts'

const usual: PoolOptions = {
  ...{ connections: 4, connectMs: 5_000, headMs: 5_000, bodyMs: 5_000, idleMs: 30_000 },
  maxHeadBytes: 16_384,
}
const get = { method: 'GET', path: '/' } as const

describe('createPool', function () {
  this.timeout(20_000)
  let respond: (req: IncomingMessage, res: ServerResponse) => unknown
  let server: Server
  let connections = 0

  async function serve(made: Server): Promise<void> {
    server = made
    connections = 0
    server.on('connection', () => connections++)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  afterEach(() => closeServer(server))

  const url = (scheme = 'http') => new URL(`${scheme}://127.0.0.1:${portOf(server)}/path`)
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      error => error.code,
    )
  async function text(pool: Dispatcher): Promise<string> {
    return (await pool.request(get)).body.text()
  }

  describe('over plain HTTP', () => {
    let pool: Dispatcher
    const start = (options: Partial<PoolOptions> = {}) => {
      pool = createPool(url(), {}, { ...usual, ...options })
    }
    beforeEach(async () => {
      respond = (_req, res) => res.end('a')
      await serve(createServer({ keepAliveTimeout: 60_000 }, (req, res) => void respond(req, res)))
    })
    afterEach(() => pool.destroy())

    it('opens no more connections than its limit, and queues further requests', async () => {
      const waiting: ServerResponse[] = []
      respond = (_req, res) => waiting.push(res)
      start({ connections: 2 })
      const all = [0, 1, 2, 3].map(() => text(pool))
      for (let i = 0; i < 4; i++) {
        while (waiting.length === 0) await sleep(5)
        waiting.shift()?.end('a')
      }
      expect(await Promise.all(all)).to.deep.equal(['a', 'a', 'a', 'a'])
      expect(connections).to.equal(2)
    })

    it('closes a connection that has been idle for too long', async () => {
      start({ idleMs: 50 })
      const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'))
      await text(pool)
      await closed
    })

    it('times out when a server does not respond, or stops in the middle of a response', async () => {
      start({ headMs: 100, bodyMs: 100 })
      respond = () => undefined
      expect(await codeOf(text(pool))).to.equal('UND_ERR_HEADERS_TIMEOUT')
      respond = (_req, res) => res.writeHead(200, { 'content-length': 2 }).write('a')
      expect(await codeOf(text(pool))).to.equal('UND_ERR_BODY_TIMEOUT')
    })

    it('has no limit with 0', async () => {
      start({ headMs: 0, bodyMs: 0 })
      respond = (_req, res) => setTimeout(() => res.end('a'), 2_000)
      expect(await text(pool)).to.equal('a')
    })

    it('rejects response headers over the limit', async () => {
      start({ maxHeadBytes: 1_000 })
      respond = (_req, res) => res.writeHead(200, { x: 'y'.repeat(1_000) }).end()
      expect(await codeOf(text(pool))).to.equal('UND_ERR_HEADERS_OVERFLOW')
    })
  })

  describe('over TLS', () => {
    const ca = createCa({ commonName: 'servers', validityDays: 1 })
    const issue = (commonName: string, usage: 'server' | 'client', dnsNames: string[]) =>
      issueCertificate(ca, { commonName, dnsNames, ipAddresses: [], usages: [usage], validityDays: 1 })
    const serving = issue('server', 'server', ['server.example.org'])
    const [one, two] = [issue('one', 'client', []), issue('two', 'client', [])]
    const tls = { ca: ca.certPem, servername: 'server.example.org' }
    function sayNames(req: IncomingMessage, res: ServerResponse): void {
      const socket = req.socket as TLSSocket
      res.end(`${socket.authorized} ${socket.getPeerCertificate().subject?.CN} ${socket.servername}`)
    }

    beforeEach(async () => {
      respond = sayNames
      const material = { cert: serving.certPem, key: serving.keyPem, ca: ca.certPem }
      const asking = { ...material, requestCert: true, rejectUnauthorized: false }
      await serve(createTlsServer(asking, (req, res) => void respond(req, res)))
    })

    it('presents its certificate and sends the server name', async () => {
      const pool = createPool(url('https'), { ...tls, cert: one.certPem, key: one.keyPem }, usual)
      expect(await text(pool)).to.equal('true one server.example.org')
      await pool.destroy()
    })

    const wrong: readonly [string, TlsOptions, string][] = [
      ['with another name', { ...tls, servername: 'other.example.org' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
      ['with another address', { ca: tls.ca }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
      ['with an unknown CA', { servername: tls.servername }, 'SELF_SIGNED_CERT_IN_CHAIN'],
    ]
    for (const [what, options, code] of wrong) {
      it(`sends no request to a server ${what}`, async () => {
        const pool = createPool(url('https'), options, usual)
        expect(await codeOf(text(pool))).to.equal(code)
        await pool.destroy()
      })
    }

    describe('ReloadingPool', () => {
      it('connects again with a new certificate, and completes requests in flight', async () => {
        const pool = new ReloadingPool(url('https'), usual)
        const first = { ...tls, cert: one.certPem, key: one.keyPem }
        let waiting: ServerResponse | undefined
        respond = (_req, res) => {
          waiting = res
        }
        const slow = text(pool.use(first))
        while (waiting === undefined) await sleep(5)
        respond = sayNames
        expect(await text(pool.use(first))).to.equal('true one server.example.org')
        const second = { ...tls, cert: two.certPem, key: two.keyPem }
        expect(await text(pool.use(second))).to.equal('true two server.example.org')
        waiting.end('late')
        expect(await slow).to.equal('late')
        expect(pool.use(second)).to.equal(pool.use(second))
        pool.destroy()
        for (const settings of [second, first])
          expect(await codeOf(text(pool.use(settings)))).to.equal('UND_ERR_DESTROYED')
      })
    })
  })
})
