import { expect } from 'chai'
import { createLogger } from '../telemetry/logger.ts'
import { untilDone } from './until-done.ts'

const logger = createLogger({ program: 'test', level: 'error', destination: { write: () => undefined } })

describe('untilDone', () => {
  it('tries again what has failed', async () => {
    let tries = 0
    await untilDone(
      async () => {
        if (++tries < 2) throw new Error('not yet')
      },
      { logger, signal: new AbortController().signal },
    )
    expect(tries).to.equal(2)
  })

  it('ends when nobody waits any more', async () => {
    const stop = new AbortController()
    let tries = 0
    await untilDone(
      async () => {
        tries++
        stop.abort()
        throw new Error('never')
      },
      { logger, signal: stop.signal },
    )
    expect(tries).to.equal(1)
  })
})
