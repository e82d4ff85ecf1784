import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

/** Seconds of processor time that a process has used so far. */
export function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // In ticks of which there are 100 a second on every Linux that matters (proc(5)).
  return (Number(fields[11]) + Number(fields[12])) / 100
}

export type Watchers = { readonly received: () => number; readonly stop: () => void }

/** Opens many watches, each on a connection of its own, and counts the events that all of them get. */
export async function openWatchers(url: string, token: string, count: number): Promise<Watchers> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY, rejectUnauthorized: false })
  let received = 0
  let open = 0
  const one = () => {
    const req = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, res => {
      open++
      // Each event ends in a line feed; nothing else of it matters here.
      res.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) received++
      })
    })
    req.on('error', () => undefined)
    req.end()
  }
  for (let i = 0; i < count; i++) {
    one()
    if (i % 50 === 49) await sleep(100)
  }
  const deadline = Date.now() + 60_000
  while (open < count) {
    if (Date.now() > deadline) throw new Error(`${open} of ${count} watches of ${url} are open`)
    await sleep(100)
  }
  return { received: () => received, stop: () => agent.destroy() }
}
