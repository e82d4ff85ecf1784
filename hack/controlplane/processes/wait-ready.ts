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

function isReady(probe: Probe | undefined): Promise<boolean> {
  if (probe === undefined) return Promise.resolve(true)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const req = sendTo(probe)
  req.on('response', res => resolve(res.resume().statusCode === 200))
  req.on('timeout', () => req.destroy())
  req.on('error', () => resolve(false))
  req.on('close', () => resolve(false))
  return promise
}

function sendTo(probe: Probe): ClientRequest {
  const options = { timeout: 2000, agent: false } as const
  if ('socket' in probe) return getPlain({ socketPath: probe.socket, path: probe.path, ...options })
  if (probe.caFile === undefined) return getPlain(probe.url, options)
  return getSecure(probe.url, { ...options, ca: readFileSync(probe.caFile) })
}

function lastLines(log: string): string {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-20)
  return ` The last lines of ${log}:\n${lines.map(line => `    ${line}`).join('\n')}`
}
