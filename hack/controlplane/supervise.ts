import type { ChildProcess } from 'node:child_process'
import type { Shipper } from './log-shipper.ts'
import { createPortFinder } from './processes/ports.ts'
import { identify } from './processes/process-id.ts'
import { type Component, createProcessRecords } from './processes/records.ts'
import { loadSettings } from './settings.ts'
import { start } from './start.ts'
import { stopComponents } from './stop.ts'

// Starts, watches and stops the other programs. It has no terminal: run.ts and up.ts show its log
// file. It sends messages over the IPC channel of Node.js, which closes if the parent dies.
// Usage: supervise.ts
//   [--attached]       end with the parent
//   [--stop-on-death]  end when one of the programs ends

const attached = process.argv.includes('--attached')
const stopOnDeath = process.argv.includes('--stop-on-death')
const settings = loadSettings(process.env)
const records = createProcessRecords(settings.runDir)
const portFinder = createPortFinder()
const abort = new AbortController()
const began = Date.now()
let ready = false
let ending: Promise<void> | undefined
let shipper: Shipper | undefined

const say = (line: string) =>
  console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`)

records.setPid('supervisor', identify(process.pid))
process.on('disconnect', () => {
  if (attached || !ready) void end(0)
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void end(0))
process.on('uncaughtException', error => void fail(error))
// Keeps this process running without IPC channel; child processes alone would not.
const alive = setInterval(() => undefined, 60_000)

try {
  shipper = await start({ settings, records, portFinder, say, signal: abort.signal, started: watch })
  ready = true
  say('everything is up')
  process.send?.({ state: 'ready' })
} catch (error) {
  if (ending === undefined) await fail(error)
}

function watch(part: Component, child: ChildProcess): void {
  child.once('exit', (code, signal) => {
    const current = records.parts().find(({ name }) => name === part.name)
    const expected = current?.stopped === true || records.pids().get(part.name)?.pid !== child.pid
    if (ending !== undefined || expected) return
    const reason = `${part.name} has ended (${signal ?? `exit code ${code}`}); its log is ${part.log}`
    say(reason)
    // During startup, the code that waits for the component reports its exit with its last lines.
    if (stopOnDeath && ready) void fail(new Error(reason))
  })
}

async function fail(error: unknown): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error)
  say(`failed: ${reason}`)
  if (process.connected) process.send?.({ state: 'failed', reason })
  await end(1)
}

async function end(code: number): Promise<void> {
  process.exitCode ||= code
  ending ??= stopAll()
  await ending
}

async function stopAll(): Promise<void> {
  abort.abort(new Error('stopping'))
  say('stopping')
  await shipper?.stop()
  const stopped = await stopComponents(settings)
  say(stopped.length > 0 ? `stopped ${stopped.join(', ')}` : 'stopped')
  portFinder.release()
  records.forgetPid('supervisor')
  clearInterval(alive)
  process.exit()
}
