import { expect } from 'chai'
import { type Session, toSession } from '../../iam/sessions/session.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { memoryClient } from '../memory-fixtures.ts'
import { createLogoutDelivery, type LogoutDeliveryOptions } from './logout-delivery.ts'

const uri = 'https://app.example.org/logout'

function session(changes: Partial<Session> = {}): Session {
  return {
    ...toSession({ metadata: { name: 'sid-1', uid: '', resourceVersion: '1', creationTimestamp: '' } }),
    ...{ user: 'alice', userGeneration: 1, clientId: 'app', scope: 'openid email', ended: 'logout' },
    ...changes,
  }
}

function setUp(
  respond: (attempt: number, to: string) => Promise<number>,
  options: Partial<LogoutDeliveryOptions> = {},
) {
  const lines: Record<string, unknown>[] = []
  const posts: string[] = []
  const outcomes: string[] = []
  const clients = new Map(
    [
      memoryClient('app', { backchannelLogoutURI: uri, idTokenSigningAlg: 'ES256' }),
      memoryClient('other', { backchannelLogoutURI: 'https://other.example.org/' }),
      memoryClient('silent'),
    ].map(client => [client.name, { client, secret: 's' }]),
  )
  let signed = 0
  const delivery = createLogoutDelivery({
    registry: { find: name => clients.get(name) },
    sign: async ({ username, sid, clientId }, alg) =>
      `token-${++signed} ${username} ${sid} ${clientId} ${alg}`,
    async post(to, token) {
      posts.push(`${to} ${token}`)
      return respond(posts.length, to)
    },
    metrics: { outcome: outcome => void outcomes.push(outcome) },
    logger: createLogger({
      program: 'test',
      level: 'info',
      destination: { write: line => void lines.push(JSON.parse(line)) },
    }),
    delayMs: () => 1,
    ...options,
  })
  const logged = () => lines.map(({ msg, client, sid, reason }) => ({ msg, client, sid, reason }))
  return { delivery, posts, outcomes, lines, logged }
}

async function settled(outcomes: readonly string[], count: number): Promise<void> {
  const deadline = Date.now() + 5_000
  while (outcomes.length < count) {
    if (Date.now() > deadline) throw new Error('the token was not sent')
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}

describe('createLogoutDelivery', () => {
  const retrying = 'failed to deliver a logout token, retrying'
  const failed = 'failed to deliver a logout token'
  const refusedWith = (status: number) => `the client responded with ${status}`
  const rows: readonly [string, readonly (number | Error)[], string, readonly [string, string][]][] = [
    ['200', [200], 'delivered', []],
    ['204', [204], 'delivered', []],
    ['an overload, then 200', [503, 200], 'delivered', [[retrying, refusedWith(503)]]],
    ['too many requests, then 200', [429, 200], 'delivered', [[retrying, refusedWith(429)]]],
    [
      'no response, then 204',
      [new Error('connect ECONNREFUSED'), 204],
      'delivered',
      [[retrying, 'connect ECONNREFUSED']],
    ],
    ['a redirect', [302], 'refused', [[failed, refusedWith(302)]]],
    ['a rejection', [400], 'refused', [[failed, refusedWith(400)]]],
    ['another success status', [202], 'refused', [[failed, refusedWith(202)]]],
    [
      'errors only',
      [500, 500, 500, 500],
      'refused',
      [retrying, retrying, retrying, failed].map((msg): [string, string] => [msg, refusedWith(500)]),
    ],
    [
      'no response',
      [1, 2, 3, 4].map(() => new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      'failed',
      [retrying, retrying, retrying, failed].map((msg): [string, string] => [msg, 'no response in time']),
    ],
  ]
  for (const [what, responses, outcome, logs] of rows) {
    it(`reports ${outcome} after ${what}`, async () => {
      const { delivery, posts, outcomes, lines, logged } = setUp(async attempt => {
        const response = responses[attempt - 1] ?? 200
        if (typeof response === 'number') return response
        throw response
      })
      delivery.send(session())
      await settled(outcomes, 1)
      expect(outcomes).to.deep.equal([outcome])
      // Each attempt sends a new token.
      expect(posts).to.deep.equal(responses.map((_, i) => `${uri} token-${i + 1} alice sid-1 app ES256`))
      expect(logged()).to.deep.equal(
        logs.map(([msg, reason]) => ({ msg, client: 'app', sid: 'sid-1', reason })),
      )
      expect(JSON.stringify(lines)).to.not.contain('token-')
      expect(JSON.stringify(lines)).to.not.contain(uri)
    })
  }

  const unsent: readonly [string, Partial<Session>][] = [
    ['a client without a logout URI', { clientId: 'silent' }],
    ['an unknown client', { clientId: 'gone' }],
    ['a session without ID tokens', { scope: 'email' }],
    ['a browser session', { type: 'Browser', clientId: '' }],
    ['a personal access token', { type: 'PersonalAccessToken' }],
    ['an exchanged token', { type: 'TokenExchange', parent: 'sid-0' }],
  ]
  for (const [what, changes] of unsent) {
    it(`sends no token for ${what}`, async () => {
      const { delivery, posts, outcomes, lines } = setUp(async () => 200)
      delivery.send(session(changes))
      await delivery.stop()
      expect([posts, outcomes, lines]).to.deep.equal([[], [], []])
    })
  }

  it('returns immediately, and a client that does not respond delays no other', async () => {
    const never = Promise.withResolvers<number>()
    const { delivery, posts, outcomes } = setUp((_, to) =>
      to === uri ? never.promise : Promise.resolve(200),
    )
    for (let i = 0; i < 50; i++) delivery.send(session({ sid: `slow-${i}` }))
    delivery.send(session({ clientId: 'other' }))
    await settled(outcomes, 1)
    expect(outcomes).to.deep.equal(['delivered'])
    expect(posts.filter(post => post.startsWith(uri))).to.have.length(4)
    never.resolve(200)
    await settled(outcomes, 51)
  })

  it('limits the concurrent requests of all clients', async () => {
    const never = Promise.withResolvers<number>()
    const limits = { maxConcurrent: 3, maxConcurrentPerClient: 2 }
    const { delivery, posts, outcomes } = setUp(() => never.promise, { limits })
    for (const clientId of ['app', 'app', 'app', 'other', 'other']) delivery.send(session({ clientId }))
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(posts).to.have.length(3)
    never.resolve(200)
    await settled(outcomes, 5)
    expect(posts).to.have.length(5)
  })

  it('drops tokens over the queue limit', async () => {
    const never = Promise.withResolvers<number>()
    const { delivery, outcomes, lines } = setUp(() => never.promise, { limits: { pending: 2 } })
    for (const sid of ['a', 'b', 'c']) delivery.send(session({ sid }))
    expect(outcomes).to.deep.equal(['dropped'])
    expect(lines[0]).to.include({ msg: 'dropped a logout token', client: 'app', sid: 'c', pending: 2 })
    never.resolve(204)
    await settled(outcomes, 3)
    expect(outcomes).to.deep.equal(['dropped', 'delivered', 'delivered'])
  })

  it('drops no token of a client because another client does not respond', async () => {
    const never = Promise.withResolvers<number>()
    const { delivery, outcomes, lines } = setUp(
      (_, to) => (to === uri ? never.promise : Promise.resolve(200)),
      { limits: { pending: 4, pendingPerClient: 2 } },
    )
    for (const sid of ['a', 'b', 'c', 'd', 'e']) delivery.send(session({ sid }))
    expect(outcomes).to.deep.equal(['dropped', 'dropped', 'dropped'])
    expect(lines[0]).to.include({ client: 'app', sid: 'c', pending: 2 })
    delivery.send(session({ clientId: 'other' }))
    await settled(outcomes, 4)
    expect(outcomes.at(-1)).to.equal('delivered')
    never.resolve(200)
    await settled(outcomes, 6)
    delivery.send(session())
    await settled(outcomes, 7)
    expect(outcomes.slice(4)).to.deep.equal(['delivered', 'delivered', 'delivered'])
  })

  it('accepts thousands of sessions that end together without blocking the event loop', async () => {
    const never = Promise.withResolvers<number>()
    const count = 20_000
    const { delivery, posts, outcomes } = setUp(() => never.promise, {
      limits: { pending: count, pendingPerClient: count },
    })
    const began = performance.now()
    for (let i = 0; i < count; i++) delivery.send(session({ sid: `sid-${i}` }))
    expect(performance.now() - began).to.be.below(2_500)
    never.resolve(200)
    await delivery.stop()
    expect([outcomes.length, posts.length]).to.deep.equal([count, 4])
  })

  it('completes requests in flight when it stops, and drops queued ones', async () => {
    const slow = Promise.withResolvers<number>()
    const { delivery, posts, outcomes } = setUp(
      (_, to) => (to === uri ? slow.promise : Promise.resolve(503)),
      {
        delayMs: () => 60_000,
        limits: { maxConcurrentPerClient: 1 },
      },
    )
    for (const sid of ['in-progress', 'waiting']) delivery.send(session({ sid }))
    delivery.send(session({ clientId: 'other' }))
    await new Promise(resolve => setTimeout(resolve, 30))
    const stopped = delivery.stop()
    slow.resolve(200)
    await stopped
    expect([...outcomes].sort()).to.deep.equal(['delivered', 'failed', 'refused'])
    expect(posts).to.have.length(2)
  })
})
