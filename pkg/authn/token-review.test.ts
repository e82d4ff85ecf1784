import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { rejectedStatus } from '../apierrors/fixtures.ts'
import { unavailable } from '../apierrors/status.ts'
import { withClocks } from '../scheduling/clock-fixtures.ts'
import { receiveRequest } from './fixtures.ts'
import { createTokenReviewAuthenticator } from './token-review.ts'

describe('createTokenReviewAuthenticator', () => {
  function start(respond: () => unknown) {
    let calls = 0
    const client = {
      call: async () => {
        calls++
        return respond()
      },
      stream: () => Promise.reject(new Error('not asked for')),
      close: () => undefined,
    }
    const authenticator = createTokenReviewAuthenticator({ client, isOurs: token => token === 'ours' })
    const send = Object.assign(
      async (token: string) =>
        authenticator.authenticate(await receiveRequest(['Authorization', `Bearer ${token}`])),
      { of: (req: IncomingMessage) => authenticator.authenticate(req) },
    )
    return { send, calls: () => calls }
  }
  const user = { username: 'system:serviceaccount:a:b', uid: 'u', groups: ['g'], extra: { k: ['v'] } }

  it('caches the identity of a token, and sends one review for concurrent requests', async () => {
    const { send, calls } = start(() => ({ status: { authenticated: true, user } }))
    const [first] = await Promise.all([send('t'), send('t'), send('t')])
    expect(first).to.deep.equal(user)
    await send('t')
    expect(calls()).to.equal(1)
  })

  it('also caches a rejection', async () => {
    const { send, calls } = start(() => ({ status: { authenticated: false } }))
    for (let i = 0; i < 2; i++)
      expect(await rejectedStatus(Promise.resolve(send('t')))).to.include({ code: 401 })
    expect(calls()).to.equal(1)
  })

  it('expires entries after ten seconds, also after a change of the system time', async () => {
    let authenticated = true
    const { send } = start(() => ({ status: authenticated ? { authenticated, user } : { authenticated } }))
    await send('t')
    authenticated = false
    await withClocks({ wallMs: -600_000, monotonicMs: 10_001 }, async () => {
      expect(await rejectedStatus(Promise.resolve(send('t')))).to.include({ code: 401 })
    })
  })

  it('returns 503 and caches nothing while kube-apiserver does not respond', async () => {
    let isDown = true
    const { send } = start(() => {
      if (isDown) throw unavailable('down')
      return { status: { authenticated: true, user } }
    })
    expect(await rejectedStatus(Promise.resolve(send('t')))).to.include({ code: 503 })
    isDown = false
    expect(await send('t')).to.deep.equal(user)
  })

  it('reviews a hundred tokens concurrently, and rejects those beyond the queue', async () => {
    const answered = Promise.withResolvers<void>()
    let inFlight = 0
    let most = 0
    const { send } = start(async () => {
      most = Math.max(most, ++inFlight)
      await answered.promise
      inFlight--
      return { status: { authenticated: true, user } }
    })
    const req = await receiveRequest(['Authorization', 'Bearer x'])
    const requests = Array.from({ length: 2_500 }, (_, i) =>
      send.of(Object.assign(Object.create(req), { headers: { authorization: `Bearer t${i}` } })),
    )
    const settled = Promise.allSettled(requests)
    answered.resolve()
    const refused = (await settled).flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
    expect([most, refused.length]).to.deep.equal([128, 2_500 - 128 - 2_048])
    expect(refused[0]).to.include({ code: 503 })
  })

  it('never sends a token of its issuer to kube-apiserver', async () => {
    const { send, calls } = start(() => ({}))
    expect(await send('ours')).to.equal(null)
    expect(calls()).to.equal(0)
  })
})
