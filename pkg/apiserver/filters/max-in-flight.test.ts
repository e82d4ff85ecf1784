import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { jane, toExchange } from '../../apirequest/fixtures.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { createMaxInFlight, type RequestSeat, type SeatKind } from './max-in-flight.ts'

function exchange(line: string, more: Partial<AuthenticatedExchange> = {}): AuthenticatedExchange {
  const [method, url] = line.split(' ')
  const res = Object.create(new EventEmitter())
  return { ...toExchange(Object.create({ method, url, headers: {} }), res), ...more }
}

const list = exchange('GET /api/v1/pods')
const create = exchange('POST /api/v1/namespaces/a/pods')
const watch = exchange('GET /api/v1/pods?watch=true')

function start(places: number) {
  const refused: SeatKind[] = []
  const limits = { reading: places, mutating: places, lasting: places, requestSeconds: 0.08 }
  const inFlight = createMaxInFlight({ limits: () => limits, onRejected: kind => refused.push(kind) })
  /** Returns a seat that is available immediately. */
  const enter = (asked: AuthenticatedExchange, isUntimed = false): RequestSeat => {
    const stay = inFlight.enter(asked, isUntimed)
    if (stay instanceof Promise) throw new Error('it waits')
    return stay
  }
  return { ...inFlight, enter, wait: inFlight.enter, refused }
}

describe('createMaxInFlight', () => {
  it('rejects a request that has waited for a quarter of its deadline, with Retry-After', async () => {
    const { enter, wait, refused } = start(1)
    enter(list)
    const began = performance.now()
    const failure = await Promise.resolve(wait(list, false)).catch(error => error)
    expect(performance.now() - began).to.be.within(15, 1_000)
    expect(failure).to.be.instanceOf(Status)
    expect(failure).to.deep.include({
      code: 429,
      reason: 'TooManyRequests',
      message: 'Too many requests, please try again later.',
      headers: { 'retry-after': '1' },
    })
    expect(refused).to.deep.equal(['reading'])
  })

  it('has separate seats for reads and writes', () => {
    const { enter, wait } = start(1)
    enter(list)
    enter(create)
    for (const one of [list, create]) expect(wait(one, false)).to.be.instanceOf(Promise)
  })

  it('counts a long-running request to kube-apiserver only as long-running', () => {
    const { enter, refused } = start(4)
    enter(list)
    const stay = enter(watch, true)
    expect(() => enter(watch, true)).to.throw(Status)
    expect(refused).to.deep.equal(['lasting'])
    stay.leave()
    enter(watch, true)
  })

  it('counts a long-running request that Kapis serves until it ends', async () => {
    const { enter, wait } = start(4)
    const stay = enter(watch)
    const waiting = wait(list, false)
    expect(waiting).to.be.instanceOf(Promise)
    stay.longRunning()
    ;(await waiting).leave()
    enter(list)
  })

  it('counts an upgrade as long-running, with any path', () => {
    const { enter } = start(4)
    const upgrade = exchange('GET /kapis/x.org/v1/users/admin/kubectl', { upgrade: Buffer.alloc(0) })
    const stay = enter(upgrade)
    stay.longRunning()
    expect(() => enter(upgrade)).to.throw(Status)
    // The rejected request released its other seat.
    enter(list)
  })

  it('rejects a response that becomes long-running if its user has too many', () => {
    const { enter } = start(4)
    enter(watch, true)
    const stay = enter(exchange('GET /kapi/v1/namespaces/a/services/b/proxy/'))
    expect(() => stay.longRunning()).to.throw(Status)
  })

  const exempt: Readonly<Record<string, Partial<AuthenticatedExchange>>> = {
    'a member of system:masters': { identity: { ...jane, groups: ['system:masters'] } },
    'kube-apiserver itself': { isAggregated: true, identity: { ...jane, username: 'system:aggregator' } },
  }
  for (const [who, as] of Object.entries(exempt)) {
    it(`never rejects ${who}, which takes no seat`, () => {
      const { enter } = start(1)
      for (let i = 0; i < 3; i++) for (const one of [list, create, watch]) enter({ ...one, ...as })
      enter(list)
    })
  }

  it('does not exempt a caller who merely has the name of kube-apiserver', () => {
    const { enter, wait } = start(1)
    const named = { ...list, identity: { ...jane, username: 'system:aggregator' } }
    enter(named)
    expect(wait(named, false)).to.be.instanceOf(Promise)
  })
})
