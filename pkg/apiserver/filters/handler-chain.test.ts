import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { badRequest, Status, unauthorized } from '../../apierrors/status.ts'
import { jane, type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import { type Auditor, noAuditor } from '../../audit/auditor.ts'
import { UnusableIdentity } from '../../authn/authenticator.ts'
import { sendJson } from '../../httpserver/response/respond.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { createHandlerChain, type HandlerChainOptions } from './handler-chain.ts'
import { createMaxInFlight } from './max-in-flight.ts'
import { createSessionRevocation } from './session-revocation.ts'
import { createSlowClients } from './slow-clients.ts'

type Record = { readonly [key: string]: unknown }

/** Limits with few seats and a queue timeout of a tenth of a second. */
function inFlightOf(places: number) {
  const limits = { reading: places, mutating: places, lasting: places, requestSeconds: 0.4 }
  return createMaxInFlight({ limits: () => limits, onRejected: () => undefined })
}

describe('createHandlerChain', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function start(overrides: Partial<HandlerChainOptions> = {}) {
    const steps: string[] = []
    const logged: Record[] = []
    const metrics: string[] = []
    const destination = { write: (line: string) => void logged.push(JSON.parse(line)) }
    const chain = createHandlerChain({
      logger: createLogger({ program: 'test', level: 'debug', destination }),
      metrics: {
        started: () => metrics.push('started'),
        finished: (info, code, seconds) =>
          metrics.push(`finished ${info?.verb} ${code}${seconds === undefined ? ' long-running' : ''}`),
      },
      accessLog: () => false,
      auditor: noAuditor,
      impersonate: async () => null,
      sessionRevocation: createSessionRevocation(() => false),
      maxInFlight: inFlightOf(0),
      slowClients: createSlowClients(() => 60_000),
      isProxied: ({ info }) => info.prefix === 'api',
      requestSeconds: () => 60,
      publicRoutes: {
        handles: path => path === '/livez',
        isAudited: () => false,
        handle: ({ res }) => sendJson(res, 200, 'alive'),
      },
      authenticate: async () => {
        steps.push('authenticate')
        return { identity: jane, isAggregated: false }
      },
      authorize: ({ info, identity }) => {
        steps.push(`authorize ${identity.username} ${info.verb} ${info.path}`)
      },
      route: ({ res, info, identity }) => {
        steps.push('route')
        sendJson(res, 200, { verb: info.verb, username: identity.username })
      },
      upgrade: () => {
        steps.push('upgrade')
      },
      ...overrides,
    })
    loopback = await startLoopback(chain.request)
    return { ...loopback, steps, logged, metrics }
  }

  it('authenticates, then authorizes, then handles a request', async () => {
    const { get, steps } = await start()
    const { code, text } = await get('/api/v1/nodes?watch=true')
    expect({ code, text }).to.deep.equal({ code: 200, text: '{"verb":"watch","username":"jane"}\n' })
    expect(steps).to.deep.equal(['authenticate', 'authorize jane watch /api/v1/nodes', 'route'])
  })

  it('serves the probes before authentication', async () => {
    const { get, steps } = await start()
    expect((await get('/livez')).text).to.equal('"alive"\n')
    expect(steps).to.deep.equal([])
  })

  it('authenticates requests to member clusters, also to public paths, if multicluster is enabled', async () => {
    const publicRoutes = {
      handles: (path: string) => path === '/kapis/version',
      isAudited: () => false,
      handle: ({ res }: Exchange) => sendJson(res, 200, 'public'),
    }
    const { get, steps } = await start({ publicRoutes, clusters: 'all' })
    expect((await get('/kapis/version')).text).to.equal('"public"\n')
    expect((await get('/kapis/clusters/host/version')).text).to.equal('"public"\n')
    expect(steps).to.deep.equal([])
    await get('/kapis/clusters/m/version')
    expect(steps).to.deep.equal(['authenticate', 'authorize jane get /clusters/m/kapis/version', 'route'])
    await loopback?.close()
    const without = await start({ publicRoutes })
    expect((await without.get('/kapis/clusters/m/version')).code).to.equal(404)
    expect(without.steps).to.deep.equal([])
  })

  it('closes only long-running responses and exports when their session ends', async () => {
    let isEnded = false
    const requests: string[] = []
    const hasEnded = ({ username }: { readonly username: string }) => {
      requests.push(username)
      return isEnded
    }
    const { open, get } = await start({
      sessionRevocation: createSessionRevocation(hasEnded, 5),
      impersonate: async () => ({ ...jane, username: 'other' }),
      route: ({ res, info }) => {
        res.flushHeaders()
        if (info.verb !== 'watch' && info.resource !== 'logs') setTimeout(() => res.end('whole'), 50)
      },
    })
    const watch = await open('/api/v1/nodes?watch=true')
    const exported = await open('/kapis/tenant.kapis.io/v1alpha2/logs?operation=export')
    await sleep(20)
    isEnded = true
    for (const response of [watch, exported]) {
      const failure = await response.toArray().catch(error => error)
      expect(failure).to.have.property('code', 'ECONNRESET')
    }
    expect(new Set(requests)).to.deep.equal(new Set(['jane']))
    expect((await get('/api/v1/nodes')).text).to.equal('whole')
  })

  it('does not call later filters after a rejection', async () => {
    for (const stage of ['authenticate', 'authorize'] as const) {
      const { get, steps, close } = await start({
        [stage]: () => {
          throw unauthorized()
        },
      })
      expect(JSON.parse((await get('/api/v1/nodes')).text)).to.deep.equal({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'Unauthorized',
        reason: 'Unauthorized',
        code: 401,
      })
      expect(steps).to.not.include('route')
      await close()
    }
  })

  it('rejects a path that two parsers could read differently before authentication', async () => {
    const { get, steps } = await start()
    for (const path of [
      '//livez',
      '/livez/../api',
      '/livez%2f..%2fapi',
      '/livez/%2e%2e/api',
      '/api/v1/%00',
    ]) {
      const { code, text } = await get(path)
      expect(code, path).to.equal(400)
      expect(JSON.parse(text)).to.include({ kind: 'Status', reason: 'BadRequest', code: 400 })
    }
    expect(steps).to.deep.equal([])
  })

  const line = (text: string) => `${text} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
  const targets: readonly (readonly [string, RegExp])[] = [
    ['GET http://example.org/livez', /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n/],
    [
      'GET http://user@example.org/livez',
      /^HTTP\/1\.1 400 [\s\S]*the request target must be an absolute path/,
    ],
    ['OPTIONS *', /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\ncontent-length: 0\r\n[\s\S]*\r\n\r\n$/i],
    ['GET *', /^HTTP\/1\.1 400 [\s\S]*the request target must be an absolute path/],
  ]
  for (const [text, expected] of targets) {
    it(`responds to ${JSON.stringify(text)}`, async () => {
      const { port } = await start()
      const socket = connect(port, '127.0.0.1')
      socket.end(line(text))
      expect(Buffer.concat(await socket.toArray()).toString()).to.match(expected)
    })
  }

  it('writes a Status unchanged and every other error as an opaque 500', async () => {
    const errors: Readonly<{ [path: string]: () => never }> = {
      '/bad': () => {
        throw badRequest('page is odd')
      },
      '/broken': () => {
        throw new Error('postgres://user:hunter2@db')
      },
    }
    const { get, logged } = await start({ route: ({ info }) => errors[info.path]?.() })
    expect(JSON.parse((await get('/bad')).text)).to.include({ code: 400, message: 'page is odd' })
    const { code, text } = await get('/broken')
    expect(code).to.equal(500)
    expect(text).to.not.contain('hunter2')
    expect(JSON.parse(text)).to.include({ reason: 'InternalError', message: 'Internal error occurred' })
    const failures = logged.filter(({ msg }) => msg === 'request failed')
    expect(failures).to.have.length(1)
    expect(failures[0]).to.deep.include({ level: 'error', code: 500, path: '/broken' })
    expect(failures[0]).to.have.nested.property('err.message', 'postgres://user:hunter2@db')
  })

  it('logs the cause of an internal error', async () => {
    const { get, logged } = await start({
      route: () => {
        throw new Status(503, 'ServiceUnavailable', 'down', { cause: new Error('ECONNREFUSED') })
      },
    })
    expect((await get('/x')).text).to.not.contain('ECONNREFUSED')
    const failure = logged.find(({ msg }) => msg === 'request failed')
    expect(failure).to.have.nested.property('err.message', 'ECONNREFUSED')
  })

  it('truncates a response that fails after it has started', async () => {
    const { get } = await start({
      route: ({ res }) => {
        res.write('half')
        throw new Error('late')
      },
    })
    const failure = await get('/x').then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code,
    )
    expect(failure).to.equal('ECONNRESET')
  })

  const ids: readonly [string, string, boolean][] = [
    ['a UUID', '123e4567-e89b-12d3-a456-426614174000', true],
    ['text', 'not an id', false],
    ['markup', '<script>alert(1)</script>', false],
    ['something short', 'abc', false],
    ['something endless', 'a'.repeat(65), false],
  ]
  for (const [what, given, isKept] of ids) {
    it(`${isKept ? 'keeps' : 'replaces'} an Audit-Id that is ${what}`, async () => {
      const { get, logged } = await start()
      const { headers } = await get('/x', { headers: { 'audit-id': given } })
      if (isKept) expect(headers['audit-id']).to.equal(given)
      else
        expect(headers['audit-id']).to.match(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/,
        )
      expect(logged.some(({ id }) => id === headers['audit-id'])).to.equal(true)
    })
  }

  it('gives every request its own ID', async () => {
    const { get } = await start()
    const [a, b] = [await get('/x'), await get('/x')]
    expect(a.headers['audit-id']).to.not.equal(b.headers['audit-id'])
  })

  it('sets no deadline for a long-running response', async () => {
    const { get, metrics } = await start({
      route: ({ res, markLongRunning }) => {
        markLongRunning?.()
        res.end('whole')
      },
    })
    await get('/api/v1/nodes/n')
    await sleep(20)
    expect(metrics).to.deep.equal(['started', 'finished get 200 long-running'])
  })

  it('counts a request once although its response closes again after an upgrade', async () => {
    const { get, metrics } = await start({
      route: ({ res }) => {
        res.once('close', () => res.emit('close'))
        res.end('whole')
      },
    })
    await get('/api/v1/nodes')
    await sleep(20)
    expect(metrics).to.deep.equal(['started', 'finished list 200'])
  })

  it('counts every request once, including those that cannot be parsed', async () => {
    const { get, metrics, close } = await start()
    await get('/api/v1/nodes')
    await get('/a//b')
    await get('/livez')
    await close()
    expect(metrics).to.deep.equal([
      'started',
      'finished list 200',
      'started',
      'finished undefined 400',
      'started',
      'finished get 200',
    ])
  })

  it('logs the user and the path, but no query, which may contain a credential', async () => {
    const { get, logged, close } = await start()
    await get('/api/v1/nodes?access_token=hunter2', { headers: { authorization: 'Bearer hunter2' } })
    await close()
    const line = logged.find(({ msg }) => msg === 'request')
    expect(line).to.include({ method: 'GET', path: '/api/v1/nodes', code: 200, user: 'jane' })
    expect(JSON.stringify(logged)).to.not.contain('hunter2')
  })

  it('impersonates a user if the caller may, and otherwise rejects the request', async () => {
    const bob = { username: 'bob', uid: '', groups: [], extra: {} }
    const { get, steps } = await start({ impersonate: async () => bob })
    expect((await get('/api/v1/nodes')).text).to.equal('{"verb":"list","username":"bob"}\n')
    expect(steps).to.include('authorize bob list /api/v1/nodes')
    await loopback?.close()
    const refused = await start({
      impersonate: () => Promise.reject(new Status(403, 'Forbidden', 'not bob')),
    })
    expect([(await refused.get('/api/v1/nodes')).code, refused.steps]).to.deep.equal([403, ['authenticate']])
  })

  it('audits every request, including denied and invalid ones', async () => {
    const audited: string[] = []
    const auditor: Auditor = {
      begin: ({ info }) => ({
        identified: ({ identity }, as) =>
          audited.push(`${info.verb} ${info.path}: ${identity.username} as ${as?.username}`),
        allowed: () => audited.push('allowed'),
        failed: error => audited.push(`failed: ${error instanceof Error && error.message}`),
        completed: code => audited.push(`completed ${code}`),
      }),
    }
    const send = async (path: string, overrides: Partial<HandlerChainOptions> = {}) => {
      audited.length = 0
      const { get, close } = await start({ auditor, ...overrides })
      await get(path)
      await close()
      return [...audited]
    }
    expect(await send('/api/v1/nodes')).to.deep.equal([
      'list /api/v1/nodes: jane as undefined',
      'allowed',
      'completed 200',
    ])
    // kube-apiserver authorizes proxied requests, and its audit log contains the decision.
    expect(await send('/api/v1/nodes', { authorize: () => 'delegated' })).to.not.include('allowed')
    const refuse = () => Promise.reject(new Status(403, 'Forbidden', 'no'))
    expect(await send('/api/v1/nodes', { authorize: refuse })).to.deep.equal([
      'list /api/v1/nodes: jane as undefined',
      'failed: no',
      'completed 403',
    ])
    expect(await send('/api/v1/nodes', { impersonate: refuse })).to.include(
      'list /api/v1/nodes: jane as undefined',
    )
    expect(await send('/api/v1/nodes', { authenticate: () => Promise.reject(unauthorized()) })).to.deep.equal(
      ['failed: Unauthorized', 'completed 401'],
    )
    // The caller is known, although headers cannot carry the identity to an upstream server.
    const unusable = () => {
      throw new UnusableIdentity('token-review', 'it has blanks', { ...jane, username: ' eve' })
    }
    expect(await send('/api/v1/nodes', { authenticate: unusable })).to.deep.equal([
      'list /api/v1/nodes:  eve as undefined',
      'failed: the identity from token-review authentication cannot be used: it has blanks',
      'completed 403',
    ])
    expect(await send('/api//v1')).to.deep.equal([
      'failed: the path contains an empty segment ("//")',
      'completed 400',
    ])
    expect(await send('/livez')).to.deep.equal([])
  })

  it('aborts a request whose authorization or response takes too long', async () => {
    const never = new Promise<never>(() => undefined)
    const stalled: readonly (readonly [string, Partial<HandlerChainOptions>])[] = [
      ['a decision', { authorize: () => never }],
      ['a pending response', { route: () => never }],
      ['a response that another component sends', { route: () => undefined }],
    ]
    for (const [what, overrides] of stalled) {
      const { get, close } = await start({ requestSeconds: () => 0.05, ...overrides })
      expect((await get('/api/v1/nodes')).code, what).to.equal(504)
      await close()
    }
  })

  const late: readonly (readonly [string, (res: ServerResponse) => void, readonly string[]])[] = [
    ['a response', res => sendJson(res, 200, 'late'), []],
    [
      'an internal error',
      () => {
        throw new Status(503, 'ServiceUnavailable', 'late')
      },
      ['503 late'],
    ],
  ]
  for (const [what, finish, errors] of late)
    it(`logs ${errors.join() || 'nothing'} for ${what} after the deadline`, async () => {
      const ended = Promise.withResolvers<void>()
      const { get, logged } = await start({
        requestSeconds: () => 0.05,
        async route({ res }) {
          await sleep(100)
          setTimeout(ended.resolve, 20)
          finish(res)
        },
      })
      expect((await get('/api/v1/nodes')).code).to.equal(504)
      await ended.promise
      const failures = logged.filter(({ msg }) => msg === 'request failed')
      expect(failures.map(({ code, err }) => `${code} ${Object(err).message}`)).to.deep.equal(errors)
    })

  it('rejects a request without a free seat, and releases seats', async () => {
    const { get } = await start({
      maxInFlight: inFlightOf(1),
    })
    for (let i = 0; i < 5; i++) expect((await get('/api/v1/nodes')).code).to.equal(200)
    await loopback?.close()
    const waiting = Promise.withResolvers<void>()
    const busy = await start({
      maxInFlight: inFlightOf(1),
      route: async ({ res }) => {
        await waiting.promise
        sendJson(res, 200, {})
      },
    })
    const first = busy.get('/api/v1/nodes')
    let second = await busy.get('/livez')
    // The first request may not have acquired its seat yet.
    while (second.code === 200) second = await busy.get('/api/v1/nodes')
    expect([second.code, second.headers['retry-after']]).to.deep.equal([429, '1'])
    waiting.resolve()
    expect((await first).code).to.equal(200)
  })

  it('gives a response that is served as long-running no deadline and no seat, and ends it with its session', async () => {
    let isEnded = false
    const { get, open } = await start({
      requestSeconds: () => 0.1,
      maxInFlight: inFlightOf(4),
      sessionRevocation: createSessionRevocation(() => isEnded, 5),
      route: ({ res, info, markLongRunning }) => {
        if (info.verb !== 'watch') return sendJson(res, 200, {})
        markLongRunning?.()
        res.flushHeaders()
      },
    })
    const watch = await open('/kapis/a.org/v1/things?watch=true')
    await sleep(200)
    expect((await get('/kapis/a.org/v1/things')).code).to.equal(200)
    isEnded = true
    expect(await watch.toArray().catch(error => error)).to.have.property('code', 'ECONNRESET')
  })

  for (const path of [
    '/kapis/a.org/v1/things?watch=true',
    '/kapis/a.org/v1/things?follow=1',
    '/kapis/a.org/v1/watch/things',
    '/kapis/a.org/v1/proxy/things',
  ]) {
    it(`gives ${path} a deadline unless it is served as a watch`, async () => {
      const { get } = await start({ requestSeconds: () => 0.05, route: () => undefined })
      expect((await get(path)).code).to.equal(504)
    })
  }

  it('lets kube-apiserver end the long-running requests that it serves', async () => {
    const route: HandlerChainOptions['route'] = ({ res }) =>
      void setTimeout(() => res.headersSent || sendJson(res, 200, {}), 200)
    const { get } = await start({ requestSeconds: () => 0.05, route })
    expect((await get('/api/v1/namespaces/a/pods/b/log?follow=true')).code).to.equal(200)
    expect((await get('/api/v1/namespaces/a/pods/b/log')).code).to.equal(504)
  })

  it('gives a request no seat before its body arrives, and authorizes it then', async () => {
    const { port, get, steps } = await start({ maxInFlight: inFlightOf(1), requestSeconds: () => 5 })
    const head = 'POST /api/v1/nodes HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab'
    const slow = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'))
    for (const socket of slow) socket.on('error', () => undefined)
    for (const socket of slow) socket.write(head)
    await sleep(100)
    for (const method of ['POST', 'GET']) expect((await get('/api/v1/nodes', { method })).code).to.equal(200)
    expect(steps.filter(step => step === 'route')).to.have.length(2)
    slow[0]?.write('cd')
    await sleep(100)
    expect(steps.filter(step => step === 'route')).to.have.length(3)
    for (const socket of slow) socket.destroy()
  })

  it('returns 504 to a body that arrives too late, without authorization', async () => {
    const { port, steps } = await start({ requestSeconds: () => 0.1 })
    const socket = connect(port, '127.0.0.1')
    socket.write('POST /api/v1/nodes HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab')
    const text = Buffer.concat(await socket.toArray()).toString()
    expect(text).to.match(/^HTTP\/1\.1 504 /)
    expect(steps).to.deep.equal(['authenticate'])
  })

  it('returns the audit ID of the caller, if it is valid', async () => {
    const { get } = await start()
    const ids = async (given: string) =>
      (await get('/livez', { headers: { 'x-request-id': given } })).headers['x-request-id']
    expect(await ids('req-1/a.b:c')).to.equal('req-1/a.b:c')
    for (const given of ['a b', '<script>', 'x'.repeat(129)]) expect(await ids(given)).to.equal(undefined)
  })

  it('logs each request if configured, with its trace and without its query', async () => {
    const { get, logged } = await start({ accessLog: () => true })
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    await get('/api/v1/nodes?token=s3cret', { headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` } })
    const line = logged.find(({ msg }) => msg === 'request')
    expect(line).to.include({
      level: 'info',
      method: 'GET',
      path: '/api/v1/nodes',
      code: 200,
      user: 'jane',
      trace,
    })
    expect(JSON.stringify(logged)).to.not.include('s3cret')
  })
})
