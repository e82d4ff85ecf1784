import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { rejectedStatus, toErrorFields } from '../apierrors/fixtures.ts'
import { createKubeClient } from './client.ts'
import { type FakeKubeApiserver, respondJson, startFakeKubeApiserver } from './fixtures.ts'

describe('createKubeClient', () => {
  let fake: FakeKubeApiserver | undefined
  const start = async (...options: Parameters<typeof startFakeKubeApiserver>) => {
    fake = await startFakeKubeApiserver(...options)
    return fake
  }
  afterEach(() => fake?.close())

  describe('call', () => {
    it('sends the request with its own credential and returns the response', async () => {
      const received: Record<string, unknown> = {}
      const { client } = await start(async (req, res) => {
        let body = ''
        for await (const chunk of req) body += chunk
        Object.assign(received, { method: req.method, url: req.url, headers: req.headers, body })
        respondJson(res, 201, { a: 'grün' })
      })
      const path = '/apis/x/v1/reviews?dryRun=All'
      expect(await client.call({ method: 'POST', path, body: { text: 'grün' } })).to.deep.equal({ a: 'grün' })
      expect(received).to.include({ method: 'POST', url: path, body: '{"text":"grün"}' })
      expect(received.headers).to.include({
        authorization: 'Bearer own',
        accept: 'application/json',
        'content-type': 'application/json',
        'content-length': '16',
        'user-agent': 'kapis',
      })
    })

    it('sends GET without a body, and the given Accept and Content-Type', async () => {
      const headers: Record<string, unknown>[] = []
      const { client } = await start((req, res) => {
        headers.push(req.headers)
        respondJson(res, 200, {})
      })
      await client.call({ path: '/x', accept: 'application/yaml' })
      await client.call({ method: 'PATCH', path: '/x', body: [], contentType: 'application/json-patch+json' })
      expect(headers[0]).to.include({ accept: 'application/yaml' })
      expect(headers[0]).to.not.have.any.keys('content-type', 'content-length')
      expect(headers[1]).to.include({ 'content-type': 'application/json-patch+json' })
    })

    for (const basePath of ['/k8s/clusters/c-1', '/k8s/clusters/c-1/']) {
      it(`prepends the path of the server URL ${basePath}`, async () => {
        const { client, requests } = await start((_req, res) => respondJson(res, 200, {}), basePath)
        await client.call({ path: '/api/v1/nodes' })
        expect(requests).to.deep.equal(['GET /k8s/clusters/c-1/api/v1/nodes'])
      })
    }

    it('returns undefined for an empty response', async () => {
      const { client } = await start((_req, res) => res.writeHead(200).end())
      expect(await client.call({ path: '/x' })).to.equal(undefined)
    })

    it('preserves kube-apiserver’s own errors, so that callers can handle them', async () => {
      const details = { name: 'x', kind: 'users' }
      const { client } = await start((_req, res) =>
        respondJson(res, 409, {
          kind: 'Status',
          reason: 'AlreadyExists',
          message: 'users "x" already exists',
          details,
        }),
      )
      const status = await rejectedStatus(client.call({ path: '/x' }))
      expect(toErrorFields(status)).to.deep.equal({
        code: 409,
        reason: 'AlreadyExists',
        message: 'users "x" already exists',
      })
      expect(status.details).to.deep.equal(details)
    })

    const strange: readonly [number, string, string, string][] = [
      [502, '<html>bad gateway</html>', 'InternalError', '<html>bad gateway</html>'],
      [404, '404 page not found\n', 'InternalError', '404 page not found\n'],
      [500, '', 'InternalError', ''],
      [403, '{}', 'InternalError', '{}'],
      [403, 'null', 'InternalError', 'null'],
      [503, '{"message":"m"}', 'InternalError', 'm'],
      [500, 'x'.repeat(5000), 'InternalError', 'x'.repeat(200)],
    ]
    for (const [code, text, reason, message] of strange) {
      it(`throws a Status of ${code} for ${JSON.stringify(text.slice(0, 30))}`, async () => {
        const { client } = await start((_req, res) => res.writeHead(code).end(text))
        expect(toErrorFields(await rejectedStatus(client.call({ path: '/x' })))).to.deep.equal({
          code,
          reason,
          message,
        })
      })
    }

    const silent = { code: 503, reason: 'ServiceUnavailable', message: 'kube-apiserver is not responding' }

    for (const code of [301, 302, 307, 308])
      it(`throws 503 for a redirect with ${code}, without waiting for its body`, async () => {
        const { client, requests } = await start((_req, res) => {
          res.writeHead(code, { location: '/elsewhere' }).write('<html>')
        })
        const status = await rejectedStatus(client.call({ path: '/x' }))
        expect(toErrorFields(status)).to.deep.equal({
          ...silent,
          message: 'kube-apiserver responded with a redirect, which is not supported',
        })
        expect(status.cause).to.have.property('code', 'UPSTREAM_REDIRECT')
        expect(requests).to.deep.equal(['GET /x'])
      })

    it('throws 503 without a listener, and keeps the address for the log', async () => {
      const { endpoint, close } = await start(() => undefined)
      await close()
      const status = await rejectedStatus(createKubeClient(endpoint).call({ path: '/x' }))
      fake = undefined
      expect(toErrorFields(status)).to.deep.equal(silent)
      expect(status.cause).to.have.property('code', 'ECONNREFUSED')
    })

    it('throws 503 when no response arrives in time', async () => {
      const { client } = await start(() => undefined)
      const startedAt = Date.now()
      expect(toErrorFields(await rejectedStatus(client.call({ path: '/x', timeoutMs: 50 })))).to.deep.equal(
        silent,
      )
      expect(Date.now() - startedAt).to.be.below(3_000)
    })

    it('throws 503 for a response that is not JSON', async () => {
      const { client } = await start((_req, res) => res.writeHead(200).end('{"a":'))
      expect(toErrorFields(await rejectedStatus(client.call({ path: '/x' })))).to.deep.equal({
        ...silent,
        message: 'kube-apiserver returned a response that is not valid JSON',
      })
    })

    it('throws 503 for a truncated response', async () => {
      const { client } = await start((_req, res) => {
        res.writeHead(200, { 'content-length': 1000 })
        res.write('{"a":', () => res.destroy())
      })
      expect(toErrorFields(await rejectedStatus(client.call({ path: '/x' })))).to.deep.equal({
        ...silent,
        message: 'kube-apiserver closed the connection before the response was complete',
      })
    })

    it('rejects a certificate of an unknown CA', async () => {
      const { endpoint } = await start((_req, res) => respondJson(res, 200, {}))
      const client = createKubeClient({ ...endpoint, access: () => ({ tls: {}, headers: [] }) })
      const status = await rejectedStatus(client.call({ path: '/x' }))
      expect(toErrorFields(status)).to.deep.equal(silent)
    })

    it('can be aborted', async () => {
      const { client, requests } = await start(() => undefined)
      const abort = new AbortController()
      const calling = rejectedStatus(client.call({ path: '/x', signal: abort.signal }))
      while (requests.length === 0) await sleep(1)
      abort.abort()
      expect(toErrorFields(await calling)).to.deep.equal(silent)
    })

    it('reuses its connections', async () => {
      const ports = new Set<number | undefined>()
      const { client } = await start((req, res) => {
        ports.add(req.socket.remotePort)
        respondJson(res, 200, {})
      })
      for (let i = 0; i < 5; i++) await client.call({ path: '/x' })
      // Connections become free in the next event-loop turn.
      expect(ports.size).to.be.at.most(2)
    })
  })

  describe('stream', () => {
    it('resolves with the headers, before the body arrives', async () => {
      const { client } = await start((_req, res) => res.flushHeaders())
      let code: number | undefined
      const body = await client.stream({ path: '/x', onResponse: given => (code = given) })
      expect(code).to.equal(200)
      body.on('error', () => undefined).destroy()
    })

    it('throws as call does', async () => {
      const { client } = await start((_req, res) =>
        respondJson(res, 410, { reason: 'Expired', message: 'too old', code: 410 }),
      )
      expect(toErrorFields(await rejectedStatus(client.stream({ path: '/x' })))).to.deep.equal({
        code: 410,
        reason: 'Expired',
        message: 'too old',
      })
    })

    it('fails when no data arrives for longer than allowed', async () => {
      const { client } = await start((_req, res) => res.flushHeaders())
      const res = await client.stream({ path: '/x', timeoutMs: 50 })
      const failure = await res.toArray().then(
        () => undefined,
        (error: NodeJS.ErrnoException) => error.code,
      )
      expect(failure).to.equal('UND_ERR_BODY_TIMEOUT')
    })
  })
})
