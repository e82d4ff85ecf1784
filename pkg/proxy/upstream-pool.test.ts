import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { createAuthority, issueCertificate } from '../certs/issue.ts'
import { createUpstreamPool, type Upstream, type UpstreamRequest } from './upstream-pool.ts'
import type { UpstreamTarget } from './upstream-target.ts'

type Given = Partial<Omit<UpstreamTarget, 'url'>> & { readonly limit?: number }

const empty = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
const get: UpstreamRequest = { method: 'GET', path: '/', headers: [], body: null }

describe('createUpstreamPool', function () {
  this.timeout(20_000)
  let server: Server | HttpsServer
  let pool: Upstream
  let sockets: Socket[]
  let answer: (text: string, socket: Socket) => void
  /** Connections that were made so far. */
  let made = 0
  let scheme = 'http'

  function start(given: Given = {}): void {
    const { limit = 4, ...rest } = given
    const { port } = server.address() as AddressInfo
    const times = { connectMs: 5_000, headMs: 5_000, bodyMs: 5_000, idleMs: 30_000, maxHeadBytes: 16_384 }
    const url = new URL(`${scheme}://127.0.0.1:${port}`)
    pool = createUpstreamPool({ url, tls: {}, ...times, ...rest }, limit)
  }

  async function serve(made: Server | HttpsServer): Promise<void> {
    server = made
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  }

  beforeEach(async () => {
    sockets = []
    made = 0
    scheme = 'http'
    answer = (_text, socket) => socket.write(empty)
    const plain = createServer(socket => {
      made++
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.on('data', chunk => answer(chunk.toString('latin1'), socket))
    })
    await serve(plain)
  })
  afterEach(() => {
    pool.destroy()
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  function ask(given: Partial<UpstreamRequest> = {}) {
    const { promise, resolve, reject } = Promise.withResolvers<{ code: number; body: string }>()
    const found = { code: 0, body: '' }
    const asked = pool.ask(
      { ...get, ...given },
      {
        begin({ code }) {
          found.code = code
        },
        data(bytes) {
          found.body += bytes
        },
        end: () => resolve(found),
        failed: reject,
      },
    )
    promise.catch(() => undefined)
    return { ...asked, answer: promise, found }
  }

  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      error => error.code,
    )

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await sleep(5)
  }

  it('sends one request after the other on one connection', async () => {
    start()
    for (let i = 0; i < 3; i++) expect(await ask().answer).to.deep.equal({ code: 200, body: '' })
    expect(made).to.equal(1)
  })

  it('opens no more than its limit; the rest wait for their turn', async () => {
    const waiting: Socket[] = []
    answer = (_text, socket) => waiting.push(socket)
    start({ limit: 2 })
    const order: number[] = []
    const all = [0, 1, 2, 3].map(i => ask().answer.then(() => order.push(i)))
    await until(() => waiting.length === 2)
    await sleep(50)
    expect([made, waiting.length]).to.deep.equal([2, 2])
    for (let i = 0; i < 4; i++) {
      await until(() => waiting.length > 0)
      waiting.shift()?.write(empty)
    }
    await Promise.all(all)
    expect([made, order.length]).to.deep.equal([2, 4])
  })

  it('a request that waits can be taken back, and another takes its turn', async () => {
    const waiting: string[] = []
    answer = text => waiting.push(text.split(' ')[1] ?? '')
    start({ limit: 1 })
    ask({ path: '/first' })
    ask({ path: '/taken-back' }).abort()
    const third = ask({ path: '/third' })
    await until(() => waiting.length === 1)
    sockets[0]?.write(empty)
    await until(() => waiting.length === 2)
    sockets[0]?.write(empty)
    await third.answer
    expect(waiting).to.deep.equal(['/first', '/third'])
  })

  it('ends the connection of a request that is taken back, and gives its place to the next', async () => {
    answer = () => undefined
    start({ limit: 1 })
    const first = ask()
    await until(() => made === 1)
    const closed = new Promise(resolve => sockets[0]?.once('close', resolve))
    answer = (_text, socket) => socket.write(empty)
    const second = ask()
    first.abort()
    await closed
    expect((await second.answer).code).to.equal(200)
  })

  it('never takes what came behind an answer for the next one', async () => {
    answer = (_text, socket) => socket.write(`${empty}HTTP/1.1 299 Planted\r\nContent-Length: 0\r\n\r\n`)
    start({ limit: 1 })
    const [first, second] = [ask(), ask()]
    expect([(await first.answer).code, (await second.answer).code]).to.deep.equal([200, 200])
    expect(made).to.equal(2)
  })

  it('never takes what came without a request for an answer', async () => {
    start()
    await ask().answer
    sockets[0]?.write('HTTP/1.1 299 Planted\r\nContent-Length: 0\r\n\r\n')
    await new Promise(resolve => sockets[0]?.once('close', resolve))
    expect([(await ask().answer).code, made]).to.deep.equal([200, 2])
  })

  for (const [what, head] of [
    ['says that it is the last', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'],
    ['lets no time for another', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=1\r\n\r\n'],
    ['is of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ] as const) {
    it(`does not use a connection again whose answer ${what}`, async () => {
      answer = (_text, socket) => socket.write(head)
      start()
      for (let i = 0; i < 2; i++) await ask().answer
      expect(made).to.equal(2)
    })
  }

  it('closes a connection that has stood idle for too long', async () => {
    start({ idleMs: 50 })
    await ask().answer
    await new Promise(resolve => sockets[0]?.once('close', resolve))
  })

  it('gives up a server that does not answer, or not on', async () => {
    start({ headMs: 60 })
    answer = () => undefined
    expect(await codeOf(ask().answer)).to.equal('UPSTREAM_HEAD_TIMEOUT')
    // Those that only inform are no answer.
    answer = (_text, socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n')
    expect(await codeOf(ask().answer)).to.equal('UPSTREAM_HEAD_TIMEOUT')
    pool.destroy()
    start({ bodyMs: 60 })
    answer = (_text, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na')
    expect(await codeOf(ask().answer)).to.equal('UPSTREAM_BODY_TIMEOUT')
  })

  it('does not blame the server while it is this side that lets it wait', async () => {
    start({ headMs: 500, bodyMs: 500 })
    answer = (text, socket) => {
      if (text.endsWith('end')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na')
    }
    const body = new PassThrough()
    const asked = ask({ method: 'POST', body, headers: ['Content-Length', '6'] })
    body.write('the')
    await sleep(1_000)
    body.end('end')
    await until(() => asked.found.body === 'a')
    asked.pause()
    await sleep(1_000)
    sockets[0]?.write('b')
    asked.resume()
    expect(await asked.answer).to.deep.equal({ code: 200, body: 'ab' })
  })

  it('reads on for the next request on a connection whose last answer had to wait', async () => {
    start({ limit: 1 })
    answer = (_text, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na')
    const { promise, resolve } = Promise.withResolvers<void>()
    const asked = pool.ask(get, {
      begin: () => undefined,
      data: () => asked.pause(),
      end: () => resolve(),
      failed: () => undefined,
    })
    await promise
    expect([(await ask().answer).body, made]).to.deep.equal(['a', 1])
  })

  describe('a body', () => {
    it('goes out as it comes, with the length that was said or in chunks', async () => {
      let seen = ''
      answer = (text, socket) => {
        seen += text
        if (/\r\n\r\n(abcd|2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n)$/.test(seen)) socket.write(empty)
      }
      start()
      const send = async (headers: readonly string[]) => {
        seen = ''
        const body = new PassThrough()
        const asked = ask({ method: 'POST', headers, body })
        body.write('ab')
        await until(() => seen.includes('ab'))
        body.end('cd')
        await asked.answer
        return seen.slice(seen.indexOf('keep-alive\r\n') + 12)
      }
      expect(await send(['Content-Length', '4'])).to.equal('Content-Length: 4\r\n\r\nabcd')
      expect(await send([])).to.equal('Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n')
      expect(made).to.equal(1)
    })

    it('lets its head go before it, when it does not come', async () => {
      answer = (text, socket) =>
        text.endsWith('\r\n\r\n') && socket.write('HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n')
      start()
      const asked = ask({ method: 'POST', body: new PassThrough(), headers: ['Content-Length', '9'] })
      expect((await asked.answer).code).to.equal(413)
      // What is left of the first request is no beginning of the next.
      answer = (_text, socket) => socket.write(empty)
      expect([(await ask().answer).code, made]).to.deep.equal([200, 2])
    })

    for (const [what, text, length] of [
      ['longer', 'abc', '2'],
      ['shorter', 'abc', '4'],
    ] as const) {
      it(`that is ${what} than was said is broken off`, async () => {
        answer = () => undefined
        start()
        const body = new PassThrough()
        body.end(text)
        const asked = ask({ method: 'POST', body, headers: ['Content-Length', length] })
        expect(await codeOf(asked.answer)).to.equal('REQUEST_BROKEN_OFF')
      })
    }

    it('that breaks off breaks the request off', async () => {
      answer = () => undefined
      start()
      const body: Readable = new PassThrough()
      const asked = ask({ method: 'POST', body })
      await until(() => made === 1)
      body.destroy()
      expect(await codeOf(asked.answer)).to.equal('REQUEST_BROKEN_OFF')
      if (sockets[0]?.closed === false) await new Promise(resolve => sockets[0]?.once('close', resolve))
    })
  })

  it('lets answers end when it is closed, and all that wait', async () => {
    const waiting: Socket[] = []
    answer = (_text, socket) => waiting.push(socket)
    start({ limit: 1 })
    const both = [ask().answer, ask().answer]
    await until(() => waiting.length === 1)
    pool.close()
    waiting[0]?.write(empty)
    await until(() => waiting.length === 2)
    waiting[1]?.write(empty)
    await Promise.all(both)
    if (sockets[0]?.closed === false) await new Promise(resolve => sockets[0]?.once('close', resolve))
    expect(made).to.equal(1)
  })

  it('ends all when it is destroyed, and begins nothing', async () => {
    answer = () => undefined
    start({ limit: 1 })
    const both = [ask().answer, ask().answer]
    await until(() => made === 1)
    pool.destroy()
    expect(await Promise.all(both.map(codeOf))).to.deep.equal(['UPSTREAM_CLOSED', 'UPSTREAM_CLOSED'])
    expect(() => ask())
      .to.throw()
      .with.property('code', 'UPSTREAM_CLOSED')
  })

  it('tells of a server that closes, that refuses and that speaks something else', async () => {
    start()
    answer = (_text, socket) => socket.destroy()
    expect(await codeOf(ask().answer)).to.be.oneOf(['UPSTREAM_CLOSED', 'ECONNRESET'])
    answer = (_text, socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab')
    expect(await codeOf(ask().answer)).to.equal('UPSTREAM_CLOSED')
    answer = (_text, socket) => socket.write('220 mail.example.org ESMTP\r\n')
    expect(await codeOf(ask().answer)).to.equal('UPSTREAM_PROTOCOL')
    server.close()
    expect(await codeOf(ask().answer)).to.equal('ECONNREFUSED')
  })

  describe('over TLS', () => {
    const authority = createAuthority({ commonName: 'upstreams', validityDays: 1 })
    const issue = (commonName: string, usage: 'server' | 'client', dnsNames: string[]) =>
      issueCertificate(authority, { commonName, dnsNames, ipAddresses: [], usages: [usage], validityDays: 1 })
    const serving = issue('upstream', 'server', ['upstream.example.org'])
    const client = issue('kapis', 'client', [])
    const tls = { ca: authority.certPem, servername: 'upstream.example.org', rejectUnauthorized: true }

    beforeEach(async () => {
      server.close()
      scheme = 'https'
      const material = { cert: serving.certPem, key: serving.keyPem, ca: authority.certPem }
      const asking = { ...material, requestCert: true, rejectUnauthorized: false }
      await serve(
        createHttpsServer(asking, (req, res) => {
          const { authorized, servername } = req.socket as TLSSocket
          res.end(`${authorized} ${servername}`)
        }),
      )
    })

    it('shows its certificate and asks for the server by name', async () => {
      start({ tls: { ...tls, cert: client.certPem, key: client.keyPem } })
      expect((await ask().answer).body).to.equal('true upstream.example.org')
    })

    for (const [what, wrong, code] of [
      ['of another name', { ...tls, servername: 'other.example.org' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
      ['of another address', { ca: tls.ca }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
      ['of an unknown authority', { servername: tls.servername }, 'SELF_SIGNED_CERT_IN_CHAIN'],
    ] as const) {
      it(`sends nothing to a server ${what}`, async () => {
        start({ tls: wrong })
        expect(await codeOf(ask().answer)).to.equal(code)
      })
    }
  })
})
