import { expect } from 'chai'
import { createTaskQueue } from './task-queue.ts'

function noFailure(error: unknown): void {
  throw new Error('no task is expected to fail', { cause: error })
}

describe('createTaskQueue', () => {
  it('reports a task that throws, and runs the others', async () => {
    const failures: unknown[] = []
    const queue = createTaskQueue(error => void failures.push(error))
    const done: number[] = []
    const broken = new Error('broken')
    queue.add(() => done.push(1))
    queue.add(() => {
      throw broken
    })
    queue.add(() => done.push(2))
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(done).to.deep.equal([1, 2])
    expect(failures).to.deep.equal([broken])
  })

  it('runs tasks in order, with turns of the event loop between them', async () => {
    const queue = createTaskQueue(noFailure)
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
