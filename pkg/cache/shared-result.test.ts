import { expect } from 'chai'
import { createSharedResult } from './shared-result.ts'

describe('createSharedResult', () => {
  const clock = { nowMs: 0 }
  let calls: PromiseWithResolvers<string>[] = []
  const create = () =>
    createSharedResult(
      () => {
        const call = Promise.withResolvers<string>()
        calls.push(call)
        return call.promise
      },
      { keepMs: 1_000, failedForMs: 100, now: () => clock.nowMs },
    )
  beforeEach(() => {
    clock.nowMs = 0
    calls = []
  })

  it('runs the work once for concurrent calls, however long it takes', async () => {
    const send = create()
    const [first, second] = [send(), send()]
    clock.nowMs = 5_000
    const third = send()
    calls[0]?.resolve('a')
    expect(await Promise.all([first, second, third])).to.deep.equal(['a', 'a', 'a'])
    expect(calls).to.have.length(1)
  })

  it('reuses a result until it expires', async () => {
    const send = create()
    const first = send()
    calls[0]?.resolve('a')
    await first
    clock.nowMs = 999
    expect(await send()).to.equal('a')
    clock.nowMs = 1_000
    const next = send()
    calls[1]?.resolve('b')
    expect(await next).to.equal('b')
  })

  it('repeats a failure for a shorter time', async () => {
    const send = create()
    const first = send()
    calls[0]?.reject(new Error('down'))
    expect(await first.catch(String)).to.equal('Error: down')
    clock.nowMs = 99
    expect(await send().catch(String)).to.equal('Error: down')
    clock.nowMs = 100
    const next = send()
    calls[1]?.resolve('up')
    expect(await next).to.equal('up')
    expect(calls).to.have.length(2)
  })
})
