import { expect } from 'chai'
import { badRequest, insufficientStorage } from '../../apierrors/status.ts'
import { defaultLimits } from './limits.ts'
import { createSpaceCheck } from './space-check.ts'

describe('createSpaceCheck', () => {
  const batch = { protocol: 'jsonlines' as const, body: Buffer.alloc(0), limits: defaultLimits }
  const stored = { stored: 0, rejected: 0, changed: {}, response: Buffer.alloc(0) }
  const full = 'the log store has no space left'

  it('reports a full store until a batch is stored again, or no batch arrives for five minutes', async () => {
    let failure: Error | undefined
    let now = 0
    const { ingest, problem } = createSpaceCheck(
      async () => {
        if (failure !== undefined) throw failure
        return stored
      },
      () => now,
    )
    const states: (string | undefined)[] = []
    const send = async (error?: Error) => {
      failure = error
      await ingest(batch).catch(() => undefined)
      states.push(problem())
    }
    await send()
    await send(badRequest('x'))
    await send(insufficientStorage('full'))
    await send(badRequest('x'))
    await send()
    await send(insufficientStorage('full'))
    now += 299_999
    states.push(problem())
    now += 1
    states.push(problem())
    expect(states).to.deep.equal([undefined, undefined, full, full, undefined, full, full, undefined])
  })
})
