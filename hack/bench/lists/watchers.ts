import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../api.ts'

export type Watchers = { readonly received: () => number; readonly stop: () => void }

/** Opens many watches, each on its own connection, and counts their events. */
export async function openWatchers(url: string, token: string, count: number): Promise<Watchers> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  let received = 0
  let open = 0
  for (let i = 0; i < count; i++) {
    const req = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, res => {
      open++
      // Each event ends with a line feed, so its content need not be parsed.
      res.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) received++
      })
    })
    req.on('error', () => undefined)
    req.end()
    if (i % 50 === 49) await sleep(100)
  }
  if ((await until(count, () => open)) < count)
    throw new Error(`${open} of ${count} watches of ${url} are open`)
  return { received: () => received, stop: () => agent.destroy() }
}
