import { expect } from 'chai'
import { createSingleFlight } from './single-flight.ts'

describe('createSingleFlight', () => {
  let calls: PromiseWithResolvers<string>[] = []
  const work = () => {
    const call = Promise.withResolvers<string>()
    calls.push(call)
    return call.promise
  }

  beforeEach(() => {
    calls = []
  })

  it('runs the work once for concurrent calls with one key, and once for each key', async () => {
    const share = createSingleFlight<string>()
    const results = [share('a', work), share('a', work), share('b', work)]
    calls[0]?.resolve('first')
    calls[1]?.resolve('second')
    expect(await Promise.all(results)).to.deep.equal(['first', 'first', 'second'])
    expect(calls).to.have.length(2)
  })

  it('runs the work again after it has succeeded or failed', async () => {
    const share = createSingleFlight<string>()
    const failing = [share('a', work), share('a', work)]
    calls[0]?.reject(new Error('down'))
    expect(await Promise.allSettled(failing).then(all => all.map(({ status }) => status))).to.deep.equal([
      'rejected',
      'rejected',
    ])
    const next = share('a', work)
    calls[1]?.resolve('up')
    expect(await next).to.equal('up')
    const last = share('a', work)
    calls[2]?.resolve('again')
    expect(await last).to.equal('again')
  })
})
