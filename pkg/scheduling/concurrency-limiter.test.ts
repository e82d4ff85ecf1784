import { expect } from 'chai'
import { Status, unavailable } from '../apierrors/status.ts'
import { createConcurrencyLimiter } from './concurrency-limiter.ts'

/** Creates work that ends when the test calls a function. */
function task(log: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<string>()
  return {
    run: () => {
      log.push(name)
      return promise
    },
    end: () => resolve(name),
  }
}

const rejection = () => unavailable('too many')
const turn = () => new Promise(resolve => setImmediate(resolve))

describe('createConcurrencyLimiter', () => {
  it('runs as many tasks concurrently as allowed, and the others in order of arrival', async () => {
    const queue = createConcurrencyLimiter({ rejection, maxConcurrent: 2, maxWaiting: 10 })
    const log: string[] = []
    const [a, b, c, d] = [task(log, 'a'), task(log, 'b'), task(log, 'c'), task(log, 'd')]
    const all = [a, b, c, d].map(({ run }) => queue.run(run))
    await turn()
    expect(log).to.deep.equal(['a', 'b'])
    expect(queue.pending()).to.equal(4)
    b.end()
    await turn()
    expect(log).to.deep.equal(['a', 'b', 'c'])
    for (const { end } of [a, c, d]) end()
    expect(await Promise.all(all)).to.deep.equal(['a', 'b', 'c', 'd'])
    expect(queue.pending()).to.equal(0)
  })

  it('rejects a task that would wait too long', async () => {
    const queue = createConcurrencyLimiter({ rejection, maxConcurrent: 1, maxWaiting: 1 })
    const first = task([], 'a')
    const running = [queue.run(first.run), queue.run(async () => 'b')]
    let refused: unknown
    await queue
      .run(async () => 'c')
      .catch(error => {
        refused = error
      })
    expect(refused).to.be.instanceOf(Status).and.include({ code: 503 })
    first.end()
    expect(await Promise.all(running)).to.deep.equal(['a', 'b'])
  })

  it('skips a cancelled task, and starts the next one', async () => {
    const queue = createConcurrencyLimiter({ rejection, maxConcurrent: 1, maxWaiting: 10 })
    const log: string[] = []
    const first = task(log, 'a')
    const gone = new AbortController()
    const running = queue.run(first.run)
    const abandoned = queue.run(task(log, 'b').run, gone.signal).catch(error => String(error))
    const last = queue.run(async () => {
      log.push('c')
    })
    gone.abort(new Error('gone'))
    expect(await abandoned).to.equal('Error: gone')
    first.end()
    await Promise.all([running, last])
    expect(log).to.deep.equal(['a', 'c'])
    expect(queue.pending()).to.equal(0)
  })

  it('continues after a failure', async () => {
    const queue = createConcurrencyLimiter({ rejection, maxConcurrent: 1, maxWaiting: 10 })
    const failing = queue.run(() => Promise.reject(new Error('no'))).catch(error => String(error))
    expect(await Promise.all([failing, queue.run(async () => 'yes')])).to.deep.equal(['Error: no', 'yes'])
  })
})
