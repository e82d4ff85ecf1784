import { execFileSync } from 'node:child_process'
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

describe('standHelpersBack', () => {
  it('lets all threads of a process go before the helpers of the engine', function () {
    if (process.platform !== 'linux') this.skip()
    const script = `
      import { readdirSync, readFileSync } from 'node:fs'
      import { getPriority } from 'node:os'
      import { standHelpersBack } from ${JSON.stringify(new URL('./thread-priority.ts', import.meta.url).href)}
      const before = getPriority(0)
      standHelpersBack(before + 3)
      const threads = readdirSync('/proc/self/task').map(id => {
        const name = readFileSync('/proc/self/task/' + id + '/comm', 'utf8').trim()
        return { isHelper: name === 'V8Worker', by: getPriority(Number(id)) - before }
      })
      const of = kind => [...new Set(threads.filter(({ isHelper }) => isHelper === kind).map(({ by }) => by))]
      console.log(JSON.stringify({ helpers: of(true), others: of(false) }))`
    const args = ['--input-type=module', '--eval', script]
    const told = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
    expect(told).to.deep.equal({ helpers: [3], others: [0] })
  })
})
