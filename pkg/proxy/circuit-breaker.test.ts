import { expect } from 'chai'
import { createCircuitBreaker } from './circuit-breaker.ts'

describe('createCircuitBreaker', () => {
  function start() {
    const clock = { now: 0 }
    const breaker = createCircuitBreaker({ failures: 3, openMs: 1_000, now: () => clock.now })
    const fail = (times: number) => {
      for (let i = 0; i < times; i++) breaker.failed()
    }
    return { breaker, clock, fail }
  }

  it('opens after a number of consecutive failures', () => {
    const { breaker, fail } = start()
    fail(2)
    breaker.succeeded()
    fail(2)
    expect(breaker.mayTry()).to.equal(true)
    fail(1)
    expect(breaker.mayTry()).to.equal(false)
  })

  it('lets one request through after a while, and no second one before the first has ended', () => {
    const { breaker, clock, fail } = start()
    fail(3)
    clock.now = 999
    expect(breaker.mayTry()).to.equal(false)
    clock.now = 1_000
    expect([breaker.mayTry(), breaker.mayTry()]).to.deep.equal([true, false])
    breaker.failed()
    clock.now = 1_999
    expect(breaker.mayTry()).to.equal(false)
    clock.now = 2_000
    expect(breaker.mayTry()).to.equal(true)
    breaker.succeeded()
    expect([breaker.mayTry(), breaker.mayTry()]).to.deep.equal([true, true])
  })

  it('lets another request through when the first was cancelled', () => {
    const { breaker, clock, fail } = start()
    fail(3)
    clock.now = 1_000
    breaker.mayTry()
    breaker.abandoned()
    expect(breaker.mayTry()).to.equal(true)
  })
})
