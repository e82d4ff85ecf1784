import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { thrownFields } from '../../../apierrors/fixtures.ts'
import { createLogConcurrency } from './log-concurrency.ts'

describe('concurrency limit of the log store', () => {
  it('leaves searches to other users while one user has the maximum number in flight', async () => {
    const { search } = createLogConcurrency()
    const res = new EventEmitter().setMaxListeners(0) as ServerResponse
    const taken = Array.from({ length: 20 }, () => search('greedy', res))
    expect(taken.filter(place => place instanceof Promise)).to.have.length(17)
    expect(search('other', res)).to.not.be.instanceOf(Promise)
    res.emit('close')
    await Promise.all(taken)
  })

  it('leaves live tails to other users', () => {
    const { tail } = createLogConcurrency()
    for (let i = 0; i < 64; i++) tail('greedy')
    expect(thrownFields(() => tail('greedy'))).to.include({
      code: 429,
      message: 'too many live tails are open',
    })
    expect(() => tail('other')).to.not.throw()
  })
})
