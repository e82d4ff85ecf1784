import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { expect } from 'chai'
import { renderKube } from '../apierrors/render-kube.ts'
import { Status } from '../apierrors/status.ts'
import { closeServer, type Loopback, portOf, readResponse, startLoopback } from '../apirequest/fixtures.ts'
import { createPool, type Dispatcher } from '../http/pool.ts'
import { createErrorByBody } from './kube-apiserver-proxy.ts'
import { relay } from './reverse-proxy.ts'

type Listener = (req: IncomingMessage, res: ServerResponse) => unknown

describe('relay', function () {
  this.timeout(20_000)
  let upstream: Listener = () => undefined
  let pool: Dispatcher
  let proxy: Loopback
  const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => void upstream(req, res))
  let settled: Promise<unknown>

  let rejections = 0

  before(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    pool = toPool(portOf(server))
    proxy = await startLoopback((req, res) => {
      const outgoing = {
        connections: pool,
        path: req.url ?? '/',
        headers: ['X-Sent', '1'],
        isLive: req.url === '/watch',
        upstream: 'it',
        insteadOf404: async (body: Buffer) => {
          if (String(body) === 'broken') throw new Status(400, 'BadRequest', 'name it')
          if (String(body) !== 'gone') return false
          res.end('found elsewhere')
          return true
        },
        errorByBody: createErrorByBody({
          endpoint: { credentialRejected: () => void rejections++ },
          account: 'the Kapis service account',
        }),
        rejection: (code: number) =>
          code === 399 ? new Status(502, 'ServiceUnavailable', 'not that') : undefined,
      }
      settled = relay(outgoing, { req, res }).catch(error => renderKube(res, error))
    })
  })
  after(async () => {
    await pool.destroy()
    await proxy.close()
    await closeServer(server)
  })

  it('passes on status, reason, headers and body unchanged', async () => {
    upstream = (req, res) => {
      res.writeHead(418, 'Short And Stout', ['X-Two', 'a', 'X-Two', 'b', 'X-Path', String(req.url)])
      res.end('bytes')
    }
    const res = await proxy.open('/a/b?c=%20d')
    expect([res.statusCode, res.statusMessage]).to.deep.equal([418, 'Short And Stout'])
    expect([res.headersDistinct['x-two'], res.headers['x-path']]).to.deep.equal([['a', 'b'], '/a/b?c=%20d'])
    expect((await readResponse(res)).text).to.equal('bytes')
  })

  // All byte values, in an order that is invalid UTF-8.
  const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => 255 - i))
  const bodies: readonly (readonly [what: string, path: string, code: number, body: Buffer])[] = [
    ['a complete response', '/', 200, everyByte],
    ['a streaming response', '/watch', 200, everyByte],
    ['a response that is too large to be buffered', '/', 200, Buffer.alloc(300_000, everyByte)],
    ['a rejection', '/', 403, everyByte],
    ['a 404', '/', 404, everyByte],
    ['a large 404', '/', 404, Buffer.alloc(300_000, everyByte)],
  ]
  for (const [what, path, code, body] of bodies) {
    it(`passes on every byte of ${what}, with a length and chunked`, async () => {
      for (const headers of [{ 'content-length': body.length }, {}]) {
        upstream = (_req, res) => {
          res.writeHead(code, headers).write(body.subarray(0, 100))
          res.end(body.subarray(100))
        }
        const response = await proxy.get(path)
        expect(response.code).to.equal(code)
        expect(response.body.equals(body)).to.equal(true)
      }
    })
  }

  it('lets a callback handle a 404, and passes on its error', async () => {
    upstream = (req, res) => res.writeHead(404).end(req.url?.slice(1))
    const [gone, broken] = [await proxy.get('/gone'), await proxy.get('/broken')]
    expect([gone.code, gone.text]).to.deep.equal([200, 'found elsewhere'])
    expect([broken.code, JSON.parse(broken.text).message]).to.deep.equal([400, 'name it'])
  })

  it('passes on gzip without decompressing it', async () => {
    const packed = Buffer.from('1f8b0800000000000003010000ffff0000000000000000', 'hex')
    upstream = (_req, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end(packed)
    const { headers, body } = await proxy.get('/')
    expect([headers['content-encoding'], body]).to.deep.equal(['gzip', packed])
  })

  for (const code of [204, 304]) {
    it(`sends a ${code} without a body and a length`, async () => {
      upstream = (_req, res) => res.writeHead(code).end()
      const { headers, body } = await proxy.get('/')
      expect([headers['content-length'], body.length]).to.deep.equal([undefined, 0])
    })
  }

  it('preserves the Content-Length of a HEAD response', async () => {
    upstream = (_req, res) => res.writeHead(200, { 'content-length': 12 }).end()
    const { code, headers, body } = await proxy.get('/', { method: 'HEAD' })
    expect([code, headers['content-length'], body.length]).to.deep.equal([200, '12', 0])
  })

  it('passes on the headers and each event while the response continues', async () => {
    let more: ServerResponse | undefined
    upstream = (_req, res) => {
      more = res
      res.writeHead(200).flushHeaders()
    }
    const res = await proxy.open('/watch')
    const events = res[Symbol.asyncIterator]()
    for (const event of ['one\n', 'two\n']) {
      more?.write(event)
      expect(String((await events.next()).value)).to.equal(event)
    }
    more?.end()
    expect((await events.next()).done).to.equal(true)
  })

  it('buffers a short chunked response, and sends it with its length', async () => {
    upstream = async (_req, res) => {
      res.writeHead(200).write('one ')
      await new Promise(resolve => setImmediate(resolve))
      res.end('two')
    }
    // Several attempts: if the machine pauses between the two writes, they are sent separately.
    for (let i = 0; i < 50; i++) {
      const { code, headers, text } = await proxy.get('/')
      expect([code, text]).to.deep.equal([200, 'one two'])
      if (headers['content-length'] === '7') return
    }
    expect.fail('never as one')
  })

  it('does not wait for the end of a slow response', async () => {
    let more: ServerResponse | undefined
    upstream = (_req, res) => {
      more = res
      res.writeHead(200).write('begun')
    }
    const res = await proxy.open('/')
    expect(String((await res[Symbol.asyncIterator]().next()).value)).to.equal('begun')
    more?.end()
  })

  it('passes on trailers', async () => {
    upstream = (_req, res) => {
      res.writeHead(200, { trailer: 'X-Sum' })
      res.write('body')
      setTimeout(() => {
        res.addTrailers({ 'X-Sum': 'abc' })
        res.end()
      }, 20)
    }
    const res = await proxy.open('/')
    await readResponse(res)
    expect(res.trailers).to.deep.equal({ 'x-sum': 'abc' })
  })

  it('streams a large body in both directions without buffering it', async () => {
    upstream = (req, res) => {
      res.writeHead(200)
      req.pipe(res)
    }
    const sent = Buffer.alloc(8 * 1024 * 1024, 'x')
    const response = await send(
      proxy.port,
      { method: 'POST', headers: { 'transfer-encoding': 'chunked' } },
      sent,
    )
    expect(response.body.equals(sent)).to.equal(true)
  })

  it('waits for a slow client', async () => {
    let written = 0
    upstream = async (_req, res) => {
      const closed = new Promise(resolve => res.once('close', resolve))
      res.writeHead(200)
      const chunk = Buffer.alloc(64 * 1024)
      for (let i = 0; i < 1024 && !res.destroyed; i++) {
        written += chunk.length
        if (!res.write(chunk))
          await Promise.race([closed, new Promise(resolve => res.once('drain', resolve))])
      }
      res.end()
    }
    const res = await proxy.open('/')
    res.pause()
    let before = -1
    // Writes until all buffers along the way are full and the server cannot write more.
    while (before !== written) {
      before = written
      await new Promise(resolve => setTimeout(resolve, 200))
    }
    expect(written).to.be.lessThan(32 * 1024 * 1024)
    res.destroy()
    await settled
  })

  it('passes on an early rejection to a client that is still sending', async () => {
    // Like kube-apiserver, the server goes on reading for a while, so that the client receives the
    // response.
    upstream = (req, res) => {
      res.writeHead(413).end('too large')
      req.resume()
    }
    const { code, text } = await send(proxy.port, { method: 'POST' }, Buffer.alloc(4 * 1024 * 1024))
    expect([code, text]).to.deep.equal([413, 'too large'])
  })

  it('cancels the upstream request when the client disconnects', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>()
    upstream = (_req, res) => {
      res.once('close', resolve)
      res.writeHead(200).flushHeaders()
    }
    const res = await proxy.open('/watch')
    res.destroy()
    await gone
    await settled
  })

  it('does not treat a truncated body as complete', async () => {
    const { promise: observed, resolve } = Promise.withResolvers<boolean>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    upstream = (req, res) => {
      req.on('data', () => begin())
      req.on('error', () => undefined)
      req.on('close', () => resolve(req.complete))
      res.on('error', () => undefined)
    }
    const req = request({ host: '127.0.0.1', port: proxy.port, method: 'POST', path: '/', agent: false })
    req.on('error', () => undefined)
    req.write('half')
    await begun
    req.destroy()
    expect(await observed).to.equal(false)
    await settled
  })

  it('truncates the response when the upstream connection closes', async () => {
    upstream = (_req, res) => {
      res.writeHead(200)
      res.write('half')
      setTimeout(() => res.destroy(), 50)
    }
    const failure = await proxy.get('/').then(
      () => undefined,
      error => error.code,
    )
    expect(failure).to.equal('ECONNRESET')
  })

  it('retries once when an idle connection was closed during the request', async () => {
    let requestCount = 0
    upstream = (req, res) => {
      requestCount++
      if (requestCount === 1) req.socket.destroy()
      else res.end('second')
    }
    expect((await proxy.get('/')).text).to.equal('second')
    expect(requestCount).to.equal(2)
  })

  it('does not retry a request that may have had an effect', async () => {
    let requestCount = 0
    upstream = req => {
      requestCount++
      req.socket.destroy()
    }
    const { code, headers } = await proxy.get('/', { method: 'DELETE' })
    expect([code, headers['proxy-status'], requestCount]).to.deep.equal([
      502,
      'kapis; error=connection_terminated',
      1,
    ])
  })

  it('distinguishes a local failure from one of the upstream server', async () => {
    upstream = (_req, res) => res.writeHead(503, { 'content-type': 'text/plain' }).end('mine')
    const theirs = await proxy.get('/')
    expect([theirs.code, theirs.text, theirs.headers['proxy-status']]).to.deep.equal([503, 'mine', undefined])
    upstream = () => undefined
    const ours = await proxy.get('/')
    expect([ours.code, ours.headers['proxy-status']]).to.deep.equal([
      504,
      'kapis; error=http_response_timeout',
    ])
    expect(JSON.parse(ours.text)).to.deep.equal({
      ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
      ...{
        message: 'it did not respond in time',
        reason: 'Timeout',
        details: { retryAfterSeconds: 1 },
        code: 504,
      },
    })
  })

  describe('a 401 from upstream', () => {
    const own =
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}'

    it('that rejects Kapis itself becomes 503: the credential is read again', async () => {
      upstream = (_req, res) => res.writeHead(401, { 'content-type': 'application/json' }).end(own)
      const before = rejections
      const { code, headers, text } = await proxy.get('/')
      expect([code, headers['retry-after'], rejections - before]).to.deep.equal([503, '1', 1])
      expect(JSON.parse(text).message).to.equal(
        'the Kapis service account is not allowed to impersonate the caller',
      )
    })

    for (const body of ['', 'log in first', '{"message":"Unauthorized"}']) {
      it(`from an application in a pod is passed on: ${JSON.stringify(body)}`, async () => {
        upstream = (_req, res) => res.writeHead(401, 'No', { 'www-authenticate': 'Basic' }).end(body)
        const { code, headers, text } = await proxy.get('/')
        expect([code, headers['www-authenticate'], text]).to.deep.equal([401, 'Basic', body])
      })
    }
  })

  describe('a 403 from upstream', () => {
    const refused = (what: string) =>
      `{"kind":"Status","message":"${what}: User \\"system:serviceaccount:kapis-system:kapis\\" cannot impersonate-on:user-info:list","code":403}`
    const own = refused('pods is forbidden')

    for (const body of [own, refused('forbidden')]) {
      it(`that rejects Kapis itself becomes 503, without the name of its account: ${body.slice(27, 50)}`, async () => {
        upstream = (_req, res) => res.writeHead(403, { 'content-type': 'application/json' }).end(body)
        const { code, headers, text } = await proxy.get('/')
        expect([code, headers['retry-after']]).to.deep.equal([503, '1'])
        expect(JSON.parse(text).message).to.equal(
          'the Kapis service account is not allowed to impersonate the caller',
        )
        expect(text).to.not.include('kapis-system')
      })
    }

    for (const [what, body] of [
      [
        'for the caller',
        '{"kind":"Status","message":"pods is forbidden: User \\"jane\\" cannot list resource","code":403}',
      ],
      ['without a body', ''],
      ['that is too large for a Status', `${'x'.repeat(100_000)}${own}`],
    ] as const) {
      it(`${what} is passed on`, async () => {
        upstream = (_req, res) => res.writeHead(403, 'No', { 'x-own': '1' }).end(body)
        const { code, headers, text } = await proxy.get('/')
        expect([code, headers['x-own'], text]).to.deep.equal([403, '1', body])
      })
    }
  })

  it('throws the original error for a response that is not passed on, not one about the connection', async () => {
    upstream = (_req, res) => res.writeHead(399).end('elsewhere')
    const { code, text } = await proxy.get('/')
    expect([code, JSON.parse(text).message]).to.deep.equal([502, 'not that'])
  })
})

function toPool(port: number): Dispatcher {
  const times = { connectMs: 5_000, headMs: 1_000, bodyMs: 0, idleMs: 30_000, maxHeadBytes: 16_384 }
  return createPool(new URL(`http://127.0.0.1:${port}`), {}, { ...times, connections: 8 })
}

async function send(
  port: number,
  options: { method: string; headers?: Record<string, string> },
  body: Buffer,
) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const req = request({ host: '127.0.0.1', port, path: '/', agent: false, ...options }, resolve)
  req.on('error', reject)
  req.end(body)
  return readResponse(await promise)
}
