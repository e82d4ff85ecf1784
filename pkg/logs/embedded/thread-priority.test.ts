import { once } from 'node:events'
import { getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'

describe('standBack', () => {
  it('lets others go before the thread that calls it, and no other', async function () {
    if (process.platform !== 'linux') this.skip()
    const before = getPriority(0)
    const script = `
      import { getPriority } from 'node:os'
      import { parentPort } from 'node:worker_threads'
      import { standBack } from ${JSON.stringify(new URL('./thread-priority.ts', import.meta.url).href)}
      standBack(${before + 3})
      parentPort.postMessage(getPriority(0))`
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`))
    const [[own]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
    expect([own, getPriority(0)]).to.deep.equal([before + 3, before])
  })
})
