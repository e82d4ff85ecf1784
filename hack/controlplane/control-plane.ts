import type { ChildProcess } from 'node:child_process'
import { clearRunDir } from './prepare.ts'
import { orAborted } from './processes/interrupted.ts'
import { createPortFinder } from './processes/ports.ts'
import { identify } from './processes/process-id.ts'
import { type Component, createProcessRecords } from './processes/records.ts'
import { withLock } from './processes/with-lock.ts'
import type { Settings } from './settings.ts'
import { start } from './start.ts'
import { down, stopComponents } from './stop.ts'

export type ControlPlane = {
  /** Resolves to the reason when a program ends that was not stopped intentionally. */
  readonly ended: Promise<string>
  readonly stop: () => Promise<void>
  /** Leaves the programs running when this process ends. */
  readonly release: () => void
}

/**
 * Stops processes that an earlier run has left, and starts all programs.
 *
 * @throws Error with the reason, or that of the signal, after all programs are stopped
 */
export async function startControlPlane(settings: Settings, signal: AbortSignal): Promise<ControlPlane> {
  const records = createProcessRecords(settings.runDir)
  await withLock(`${settings.runDir}/start.lock`, console.log, async () => {
    const left = await down(settings)
    if (left.length > 0) console.log(`stopped processes of an earlier run: ${left.join(', ')}`)
    clearRunDir(settings)
    records.setPid('supervisor', identify(process.pid))
  })
  const began = Date.now()
  const say = (line: string) =>
    console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`)
  const portFinder = createPortFinder()
  const ended = Promise.withResolvers<string>()
  const children: ChildProcess[] = []
  let isWatched = false

  const started = (part: Component, child: ChildProcess) => {
    children.push(child)
    child.once('exit', (code, killedBy) => {
      const current = records.parts().find(({ name }) => name === part.name)
      const isExpected = current?.stopped === true || records.pids().get(part.name)?.pid !== child.pid
      // During startup, the code that waits for the program reports its exit with its last lines.
      if (!isWatched || isExpected) return
      const reason = `${part.name} has ended (${killedBy ?? `exit code ${code}`}); its log is ${part.log}`
      say(reason)
      ended.resolve(reason)
    })
  }

  async function stop(): Promise<void> {
    isWatched = false
    say('stopping')
    const stopped = await stopComponents(settings)
    say(stopped.length > 0 ? `stopped ${stopped.join(', ')}` : 'stopped')
    portFinder.release()
    records.forgetPid('supervisor')
  }

  try {
    await orAborted(signal, start({ settings, records, portFinder, say, signal, started }))
  } catch (error) {
    say(`failed: ${error instanceof Error ? error.message : error}`)
    await stop()
    throw error
  }
  isWatched = true
  say('everything is up')
  return {
    ended: ended.promise,
    stop,
    release() {
      records.forgetPid('supervisor')
      for (const child of children) child.unref()
    },
  }
}
