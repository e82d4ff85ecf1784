import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import { createLogger } from '../telemetry/logger.ts'
import { retry, retryOnConflict, retryTransient, retryUntilSuccess } from './retry.ts'

const conflict = new Status(409, 'Conflict', 'changed')

/**
 * Returns a function that throws each of `errors` in turn, and then returns the number of calls.
 */
function failing(...errors: readonly unknown[]) {
  let calls = 0
  return async () => {
    const error = errors[calls++]
    if (error !== undefined) throw error
    return calls
  }
}

const thrownBy = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error)

describe('retry', () => {
  it('waits for the given delay, and reports each failure', async () => {
    const [waits, errors]: [number[], unknown[]] = [[], []]
    const calls = await retry(failing('a', 'b'), {
      isRetriable: () => true,
      delayMs: failed => {
        waits.push(failed)
        return 0
      },
      onRetry: error => errors.push(error),
    })
    expect([calls, waits, errors]).to.deep.equal([3, [1, 2], ['a', 'b']])
  })

  it('throws the last error: after the last attempt, a permanent error, or an abort', async () => {
    const isRetriable = (error: unknown) => error !== 'fatal'
    expect(await thrownBy(retry(failing('a', 'b', 'c'), { isRetriable, attempts: 2 }))).to.equal('b')
    expect(await thrownBy(retry(failing('a', 'fatal'), { isRetriable }))).to.equal('fatal')
    const stop = new AbortController()
    const waiting = retry(failing('a'), { isRetriable, delayMs: () => 60_000, signal: stop.signal })
    stop.abort()
    expect(await thrownBy(waiting)).to.equal('a')
  })
})

describe('retryOnConflict', () => {
  it('writes again after a conflict, at most five times', async () => {
    expect(await retryOnConflict(failing(conflict, conflict, conflict, conflict))).to.equal(5)
    const always = failing(...new Array(9).fill(conflict))
    expect(await thrownBy(retryOnConflict(always))).to.equal(conflict)
  })

  it('throws 503 instead of the last conflict, if there is a message for it', async () => {
    const error = await thrownBy(retryOnConflict(failing(...new Array(5).fill(conflict)), 'it is busy'))
    expect(error).to.be.instanceOf(Status).that.includes({ code: 503, message: 'it is busy' })
  })

  it('throws every other error', async () => {
    const other = new Status(403, 'Forbidden', 'no')
    expect(await thrownBy(retryOnConflict(failing(conflict, other), 'busy'))).to.equal(other)
  })
})

describe('retryTransient', () => {
  it('retries while kube-apiserver is overloaded or unreachable, at most three times', async () => {
    const [busy, away] = [
      new Status(429, 'TooManyRequests', 'slow'),
      new Status(503, 'ServiceUnavailable', 'down'),
    ]
    expect(await retryTransient(failing(busy, away))).to.equal(3)
    expect(await thrownBy(retryTransient(failing(away, away, busy)))).to.equal(busy)
    for (const final of [conflict, new Status(404, 'NotFound', 'no'), new Error('bug')])
      expect(await thrownBy(retryTransient(failing(final)))).to.equal(final)
  })
})

describe('retryUntilSuccess', () => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const logger = createLogger({ program: 'test', level: 'warn', destination })

  it('retries after a failure, and logs the cause', async () => {
    const work = failing(new Error('not yet'))
    const { signal } = new AbortController()
    await retryUntilSuccess(async () => void (await work()), {
      logger,
      signal,
      delayMs: 1,
      message: 'waiting',
    })
    expect(await work()).to.equal(3)
    expect(lines.map(line => JSON.parse(line).msg)).to.deep.equal(['waiting'])
  })

  it('returns without an error after an abort', async () => {
    const stop = new AbortController()
    let tries = 0
    const work = async () => {
      tries++
      stop.abort()
      throw new Error('never')
    }
    for (let i = 0; i < 2; i++) await retryUntilSuccess(work, { logger, signal: stop.signal })
    expect(tries).to.equal(1)
  })
})
