import { expect } from 'chai'
import type { AuthenticatedExchange } from '../request/exchange.ts'
import { jane, toExchange } from '../request/fixtures.ts'
import { Status } from '../status/status.ts'
import { createInFlight } from './in-flight.ts'

function exchange(method: string, url: string): AuthenticatedExchange {
  return toExchange(Object.create({ method, url }), Object.create(null))
}

const list = exchange('GET', '/api/v1/pods')
const create = exchange('POST', '/api/v1/namespaces/a/pods')

describe('createInFlight', () => {
  it('refuses what is one too many, with when to try again', () => {
    const refused: string[] = []
    const { enter } = createInFlight(
      () => ({ reading: 2, mutating: 1 }),
      kind => refused.push(kind),
    )
    enter(list)
    const leave = enter(list)
    let failure: unknown
    try {
      enter(list)
    } catch (error) {
      failure = error
    }
    expect(failure).to.be.instanceOf(Status)
    expect(failure).to.deep.include({
      code: 429,
      reason: 'TooManyRequests',
      message: 'Too many requests, please try again later.',
      headers: { 'retry-after': '1' },
    })
    expect(refused).to.deep.equal(['reading'])
    leave()
    enter(list)
  })

  it('leaves a place once, however often it is told', () => {
    const { enter } = createInFlight(
      () => ({ reading: 1, mutating: 0 }),
      () => undefined,
    )
    const leave = enter(list)
    leave()
    leave()
    enter(list)
    expect(() => enter(list)).to.throw(Status)
  })

  it('reads and writes do not take each other’s places', () => {
    const { enter } = createInFlight(
      () => ({ reading: 1, mutating: 1 }),
      () => undefined,
    )
    enter(list)
    enter(create)
    for (const one of [list, create]) expect(() => enter(one)).to.throw(Status)
  })

  it('what lasts takes no place', () => {
    const { enter } = createInFlight(
      () => ({ reading: 1, mutating: 1 }),
      () => undefined,
    )
    enter(list)
    for (const path of ['/api/v1/pods?watch=true', '/api/v1/namespaces/a/pods/b/log?follow=true'])
      enter(exchange('GET', path))
    enter(exchange('POST', '/api/v1/namespaces/a/pods/b/exec'))
  })

  it('superusers are never refused, and count', () => {
    const { enter } = createInFlight(
      () => ({ reading: 1, mutating: 1 }),
      () => undefined,
    )
    const superuser = { ...list, identity: { ...jane, groups: ['system:masters'] } }
    for (let i = 0; i < 3; i++) enter(superuser)
    expect(() => enter(list)).to.throw(Status)
  })

  it('0 is no limit', () => {
    const { enter } = createInFlight(
      () => ({ reading: 0, mutating: 0 }),
      () => undefined,
    )
    for (let i = 0; i < 1_000; i++) enter(list)
  })
})
