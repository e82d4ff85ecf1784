import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { type Attempt, createLockout, type LockoutKey } from './lockout.ts'

describe('createLockout', () => {
  const rules = {
    user: { maxTries: 3, durationSeconds: 10 },
    address: { maxTries: 5, durationSeconds: 10 },
  }
  const at = { ms: 0 }
  const make = (maxKeys?: number) => {
    at.ms = 0
    return createLockout({ rules, now: () => at.ms, ...(maxKeys === undefined ? {} : { maxKeys }) })
  }
  async function begin(lockout: ReturnType<typeof make>, ...keys: LockoutKey[]): Promise<Attempt> {
    const attempt = await lockout.begin(keys)
    if (typeof attempt === 'number') throw new Error(`locked until ${attempt}`)
    return attempt
  }

  it('checks no more passwords concurrently than may fail, and reports the lock to the rest', async () => {
    const lockout = make()
    let checked = 0
    const results = await Promise.all(
      Array.from({ length: 1000 }, async () => {
        const attempt = await lockout.begin(['user:a'])
        if (typeof attempt === 'number') return attempt
        checked++
        await turn()
        attempt.failed()
        return 'checked'
      }),
    )
    expect(checked).to.equal(3)
    expect(results.filter(result => result === 10_000)).to.have.length(997)
  })

  it('accepts a burst of correct passwords', async () => {
    const lockout = make()
    const results = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const attempt = await begin(lockout, 'user:a', 'address:x')
        await turn()
        attempt.passed()
        return 'right'
      }),
    )
    expect(results.every(result => result === 'right')).to.equal(true)
  })

  it('lets waiting attempts continue when another attempt succeeds', async () => {
    const lockout = make()
    const running = [await begin(lockout, 'user:a'), await begin(lockout, 'user:a')]
    for (const attempt of running) attempt.failed()
    const last = await begin(lockout, 'user:a')
    const waiting = begin(lockout, 'user:a')
    last.passed()
    ;(await waiting).failed()
    expect(await lockout.begin(['user:a'])).to.equal(10_000)
  })

  it('counts every key with its own limit, and names the locked one', async () => {
    const lockout = make()
    for (const user of ['a', 'b', 'c', 'd'] as const)
      expect((await begin(lockout, `user:${user}`, 'address:x')).failed()).to.deep.equal([])
    expect((await begin(lockout, 'user:e', 'address:x')).failed()).to.deep.equal(['address:x'])
    expect(await lockout.begin(['user:f', 'address:x'])).to.equal(10_000)
    ;(await begin(lockout, 'user:a', 'address:y')).passed()
  })

  it('includes the failures that other replicas have counted', async () => {
    const lockout = make()
    for (const count of [1, 2, 3]) lockout.note(['user:a'], count)
    expect(lockout.lockedUntilMs('user:a')).to.equal(10_003)
    at.ms = 10_003
    ;(await begin(lockout, 'user:a')).passed()
  })

  it('resets the count after a success, and resumes waiting attempts', async () => {
    const lockout = make()
    lockout.note(['user:a', 'user:a'], 0)
    const first = await begin(lockout, 'user:a')
    const second = begin(lockout, 'user:a')
    lockout.forgive(['user:a'], 0)
    ;(await second).passed()
    first.passed()
  })

  it('drops an attempt whose client disconnected while waiting', async () => {
    const lockout = make()
    lockout.note(['user:a', 'user:a'], 0)
    const first = await begin(lockout, 'user:a')
    const gone = new AbortController()
    const second = lockout.begin(['user:a'], gone.signal)
    gone.abort(new Error('gone'))
    expect(await second.catch(String)).to.equal('Error: gone')
    first.passed()
    ;(await begin(lockout, 'user:a')).passed()
  })

  it('evicts expired keys first, then the oldest', async () => {
    const lockout = make(2)
    ;(await begin(lockout, 'user:a')).failed()
    at.ms = 10_000
    ;(await begin(lockout, 'user:b')).failed()
    ;(await begin(lockout, 'user:b')).failed()
    ;(await begin(lockout, 'user:c')).failed()
    expect((await begin(lockout, 'user:b')).failed()).to.deep.equal(['user:b'])
  })

  it('limits the number of waiting attempts', async () => {
    const lockout = make()
    lockout.note(['user:a', 'user:a'], 0)
    const running = await begin(lockout, 'user:a')
    const waiting = Array.from({ length: 4_096 }, () => lockout.begin(['user:a']))
    const error = await lockout.begin(['user:a']).catch(thrown => thrown)
    expect(error).to.be.instanceOf(Status).and.include({ code: 503 })
    running.failed()
    expect(await Promise.all(waiting)).to.satisfy((all: unknown[]) => all.every(end => end === 10_000))
  })
})
