import { expect } from 'chai'
import { SharedCalls } from './shared-calls.ts'

describe('SharedCalls', () => {
  /** Calls that the test completes, in the order in which they were made. */
  function create() {
    const made: PromiseWithResolvers<number>[] = []
    const calls = new SharedCalls<number>()
    const run = (key = 'a') =>
      calls.run(key, () => {
        const call = Promise.withResolvers<number>()
        made.push(call)
        return call.promise
      })
    return { made, run }
  }

  it('shares a call among callers before it starts', async () => {
    const { made, run } = create()
    const both = Promise.all([run(), run()])
    await tick()
    expect(made).to.have.length(1)
    made[0]?.resolve(1)
    expect(await both).to.deep.equal([1, 1])
  })

  it('shares the next call among callers while one is running', async () => {
    const { made, run } = create()
    const first = run()
    await tick()
    const later = [run(), run()]
    await tick()
    expect(made).to.have.length(1)
    made[0]?.resolve(1)
    expect(await first).to.equal(1)
    await tick()
    expect(made).to.have.length(2)
    made[1]?.resolve(2)
    expect(await Promise.all(later)).to.deep.equal([2, 2])
  })

  it('continues after a failed call, which fails only for its own callers', async () => {
    const { made, run } = create()
    const first = run()
    await tick()
    const later = run()
    made[0]?.reject(new Error('broken'))
    expect(await first.catch((error: Error) => error.message)).to.equal('broken')
    await tick()
    made[1]?.resolve(2)
    expect(await later).to.equal(2)
  })

  it('separates calls with different keys', async () => {
    const { made, run } = create()
    const both = Promise.all([run('a'), run('b')])
    await tick()
    expect(made).to.have.length(2)
    for (const [i, call] of made.entries()) call.resolve(i)
    expect(await both).to.deep.equal([0, 1])
  })
})

function tick(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
