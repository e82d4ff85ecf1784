import { readFileSync } from 'node:fs'
import { type ClientRequest, get as getPlain } from 'node:http'
import { get as getSecure } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, type ProcessId } from './process-id.ts'
import type { Component, Probe } from './records.ts'

/** Usually seconds, but four control planes on two cores with a cold disk took half a minute. */
const readyWithinMs = 180_000

/**
 * Waits until the program responds to its probe with 200.
 *
 * @throws Error if its process exits or three minutes pass, with the last lines of its log
 */
export async function waitReady(part: Component, id: ProcessId, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + readyWithinMs
  for (;;) {
    if (await isReady(part.probe)) return
    signal.throwIfAborted()
    if (!isAlive(id)) throw new Error(`${part.name} has ended.${lastLines(part.log)}`)
    if (Date.now() > deadline)
      throw new Error(`${part.name} is not ready after ${readyWithinMs / 1000} s.${lastLines(part.log)}`)
    await sleep(50, undefined, { signal })
  }
}

async function isReady(probe: Probe): Promise<boolean> {
  if ('socket' in probe) {
    const { socket: socketPath, path } = probe
    return (await respond(options => getPlain({ socketPath, path, ...options }))) === 200
  }
  const { url, caFile } = probe
  const ca = caFile === undefined ? {} : { ca: readFileSync(caFile) }
  const get = url.startsWith('https:') ? getSecure : getPlain
  return (await respond(options => get(url, { ...options, ...ca }))) === 200
}

/** Returns the status of the response; 0 without a response. */
function respond(send: (options: { timeout: number; agent: false }) => ClientRequest): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const req = send({ timeout: 2000, agent: false })
  req.on('response', res => {
    res.resume()
    resolve(res.statusCode ?? 0)
  })
  req.on('timeout', () => req.destroy())
  req.on('error', () => resolve(0))
  req.on('close', () => resolve(0))
  return promise
}

export function lastLines(log: string): string {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-20)
  return ` The last lines of ${log}:\n${lines.map(line => `    ${line}`).join('\n')}`
}
