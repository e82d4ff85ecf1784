import { expect } from 'chai'
import { takeProfile } from './profile.ts'

describe('takeProfile', () => {
  const { signal } = new AbortController()

  function burnProcessor(): number {
    let sum = 0
    for (const until = performance.now() + 200; performance.now() < until; ) sum += Math.sqrt(sum + 1)
    return sum
  }

  it('cpu: names the function that takes the time', async () => {
    const taking = takeProfile('cpu', 0.5, signal)
    setTimeout(burnProcessor, 100)
    const { nodes, samples } = JSON.parse(await taking)
    expect(samples).to.have.property('length').above(0)
    expect(JSON.stringify(nodes)).to.include('"functionName":"burnProcessor"')
  })

  it('heap: names the function that allocated, but no contents', async () => {
    const kept: string[][] = []
    function keepTokens() {
      for (let i = 0; i < 2_000; i++) kept.push(Array.from({ length: 100 }, () => `secret-${i}`))
    }
    const taking = takeProfile('heap', 0.5, signal)
    setTimeout(keepTokens, 100)
    const text = await taking
    expect(JSON.parse(text)).to.have.property('head')
    expect(text).to.include('"functionName":"keepTokens"').and.not.include('secret-1')
    expect(kept).to.have.length(2_000)
  })

  it('ends early if the client disconnects', async () => {
    const startedAt = performance.now()
    await takeProfile('cpu', 60, AbortSignal.timeout(100))
    expect(performance.now() - startedAt).to.be.below(30_000)
  })
})
