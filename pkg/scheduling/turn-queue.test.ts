import { expect } from 'chai'
import { createTurnQueue } from './turn-queue.ts'

describe('createTurnQueue', () => {
  it('runs in order, with turns between', async () => {
    const queue = createTurnQueue()
    const done: number[] = []
    for (let i = 0; i < 100; i++)
      queue.add(() => {
        const end = performance.now() + 1
        while (performance.now() < end);
        done.push(i)
      })
    const counts = new Set<number>()
    while (done.length < 100) {
      counts.add(done.length)
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(done).to.deep.equal(Array.from({ length: 100 }, (_, i) => i))
    expect(counts.size).to.be.above(10)
    queue.add(() => done.push(100))
    await new Promise(resolve => setTimeout(resolve, 5))
    expect(done.at(-1)).to.equal(100)
  })
})
