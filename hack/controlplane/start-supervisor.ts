import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { clearRunDir } from './prepare.ts'
import { withLock } from './processes/lock-file.ts'
import { identify } from './processes/process-id.ts'
import { createProcessRecords } from './processes/records.ts'
import type { Settings } from './settings.ts'
import { down, stopComponents } from './stop.ts'

const tailEveryMs = 100

export type Supervisor = {
  /** Rejects with the reason if a program does not start. */
  readonly ready: Promise<void>
  /** Resolves to the reason for the end; undefined after a requested stop. */
  readonly ended: Promise<string | undefined>
  readonly stop: () => Promise<void>
  /** Detaches the supervisor, which then runs without its parent. */
  readonly release: () => void
}

/**
 * Stops processes that an earlier supervisor has left, then starts a supervisor and prints its
 * output.
 */
export async function startSupervisor(settings: Settings, flags: readonly string[]): Promise<Supervisor> {
  mkdirSync(settings.runDir, { recursive: true })
  return withLock(`${settings.runDir}/lock`, console.log, async () => {
    const left = await down(settings)
    if (left.length > 0) console.log(`stopped processes of an earlier run: ${left.join(', ')}`)
    clearRunDir(settings)
    mkdirSync(settings.logsDir, { recursive: true })
    return supervise(settings, flags)
  })
}

function supervise(settings: Settings, flags: readonly string[]): Supervisor {
  const logFile = join(settings.logsDir, 'supervisor.log')
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn(process.execPath, [join(import.meta.dirname, 'supervise.ts'), ...flags], {
    env: { ...process.env, RUN_DIR: settings.runDir },
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  createProcessRecords(settings.runDir).setPid('supervisor', identify(child.pid ?? 0))
  const tail = createTail(logFile)
  const ready = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string | undefined>()
  let isReported = false
  let failure: string | undefined

  child.on('message', message => {
    if (typeof message !== 'object' || message === null || !('state' in message)) return
    // Prints the remaining output before the result.
    tail.copy()
    if (message.state === 'ready') ready.resolve()
    if ('reason' in message) failure = String(message.reason)
  })
  child.on('exit', async (code, signal) => {
    tail.close()
    // A killed supervisor has not stopped its programs.
    if (signal !== null) await stopComponents(settings)
    const reason = failure ?? `the supervisor ended (${signal ?? `exit code ${code}`})`
    ready.reject(new Error(reason))
    ended.resolve(isReported ? undefined : reason)
  })
  // Prevents an unhandled rejection in callers that only wait for `ended`.
  ready.promise.catch(() => undefined)

  return {
    ready: ready.promise,
    ended: ended.promise,
    async stop() {
      isReported = true
      child.kill('SIGTERM')
      await ended.promise
    },
    release() {
      tail.close()
      child.removeAllListeners('exit')
      child.disconnect()
      child.unref()
    },
  }
}

/** Copies new lines of a file to the terminal. */
function createTail(file: string): { copy: () => void; close: () => void } {
  const fd = openSync(file, 'r')
  const chunk = Buffer.alloc(16_384)
  let closed = false
  const copy = () => {
    if (closed) return
    for (let n = readSync(fd, chunk); n > 0; n = readSync(fd, chunk)) print(chunk.subarray(0, n))
  }
  const timer = setInterval(copy, tailEveryMs)
  return {
    copy,
    close() {
      if (closed) return
      clearInterval(timer)
      copy()
      closed = true
      closeSync(fd)
    },
  }
}

/** Prints to the terminal, which may be closed: the processes must still be stopped. */
function print(bytes: Buffer): void {
  try {
    writeSync(1, bytes)
  } catch {}
}
