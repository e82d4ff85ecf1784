import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from './load.ts'

// A process of its own that asks one question again and again: in that of the senders it would wait for their work, too.
// Its parent sends the question, and then anything, to be told the median of its milliseconds.

/** `{now}` in the URL is another number each time: what was asked before is answered out of memory. */
export type Question = { readonly url: string; readonly caFile: string; readonly token: string }

const pauseMs = 200
const times: number[] = []

process.once('disconnect', () => process.exit(1))

process.once('message', ({ url, caFile, token }: Question) => {
  let isDone = false
  process.once('message', () => {
    isDone = true
  })
  const options = {
    agent: new Agent({ keepAlive: true, ca: readFileSync(caFile) }),
    headers: { authorization: `Bearer ${token}` },
  }
  const ask = (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    get(url.replace('{now}', String(Date.now())), options, async response => {
      const text = Buffer.concat(await response.toArray()).toString('utf8')
      if (response.statusCode === 200) resolve()
      else reject(new Error(`${url} answered ${response.statusCode}: ${text}`))
    }).on('error', reject)
    return promise
  }
  const run = async (): Promise<void> => {
    // The first one opens the connection.
    await ask()
    process.send?.('ready')
    while (!isDone) {
      const start = performance.now()
      await ask()
      times.push(performance.now() - start)
      await sleep(pauseMs)
    }
    process.send?.(median(times), () => process.exit(0))
  }
  run().catch(error => {
    console.error(error)
    process.exit(1)
  })
})
