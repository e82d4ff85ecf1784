import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, getPriority, setPriority } from 'node:os'
import { extname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Status, unavailable } from '../../../apierrors/status.ts'
import { type FromChild, fromPlainError } from './child-protocol.ts'

/** A child process that responds to requests. A request starts it if it is not running. */
export type Child = {
  /** Starts the process. Resolves when it is ready. @throws Error */
  readonly start: () => Promise<void>
  /**
   * Sends a request and returns the response.
   *
   * @param signal on abort, cancels the request and rejects with the abort reason
   * @throws Status 503 if the process ends before it responds; errors of the process
   */
  readonly request: (message: object, signal?: AbortSignal) => Promise<unknown>
  /** Ends the process after its requests in progress; kills it after 30 s. */
  readonly stop: () => Promise<void>
}

export type ChildSettings = {
  /** Name of the program. `writer` runs writer-process.ts, or its compiled form. */
  readonly name: string
  /** Settings that the process gets as JSON in its first argument. */
  readonly settings: object
  readonly heapMegabytes: number
  /** Added to the nice value of this process. */
  readonly nice: number
  readonly onNotice: (notice: unknown) => void
  readonly onExit: (error: Error) => void
}

type Running = {
  readonly process: ChildProcess
  readonly ready: PromiseWithResolvers<void>
  readonly open: Map<number, PromiseWithResolvers<unknown>>
}

const stopWithinMs = 30_000
// Size of a semi-space. V8's default of 64 MiB exceeds the free part of a small heap; V8 would then
// collect the whole heap every few milliseconds.
const youngMegabytes = 16
// Environment variables that the process inherits. Others may contain secrets.
const passedOn = /^(NODE_.*|MALLOC_.*|LD_LIBRARY_PATH|PATH|TMPDIR|TZ)$/

export function createChild(childSettings: ChildSettings): Child {
  const { name, settings, heapMegabytes, nice, onNotice, onExit } = childSettings
  let running: Running | undefined
  let lastId = 0
  let isStopped = false

  function start(): Running {
    const script = new URL(`./${name}-process${extname(import.meta.filename)}`, import.meta.url)
    const child = fork(script, [JSON.stringify(settings)], {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${heapMegabytes}`, `--max-semi-space-size=${youngMegabytes}`],
      env: Object.fromEntries(Object.entries(process.env).filter(([key]) => passedOn.test(key))),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const started: Running = { process: child, ready: Promise.withResolvers(), open: new Map() }
    // Set before the process creates threads, which inherit the priority.
    if (child.pid !== undefined) setPriority(child.pid, lowered(nice))
    child.on('message', message => receive(started, message as FromChild))
    child.on('error', error => started.ready.reject(error))
    child.on('exit', (code, signal) => reportExit(started, `ended with ${signal ?? code}`))
    started.ready.promise.catch(() => undefined)
    return started
  }

  function reportExit(one: Running, how: string): void {
    if (running === one) running = undefined
    const error = new Error(`the ${name} process of the log store ${how}`)
    one.ready.reject(error)
    for (const { reject } of one.open.values()) reject(interrupted())
    one.open.clear()
    if (!isStopped) onExit(error)
  }

  function receive(from: Running, message: FromChild): void {
    switch (message.kind) {
      case 'ready':
        from.ready.resolve()
        break
      case 'broken':
        from.ready.reject(fromPlainError(message.error))
        break
      case 'notice':
        onNotice(message.notice)
        break
      case 'response':
        take(from, message.id)?.resolve(message.value)
        break
      case 'failure':
        take(from, message.id)?.reject(fromPlainError(message.error))
    }
  }

  function take({ open }: Running, id: number): PromiseWithResolvers<unknown> | undefined {
    const waiting = open.get(id)
    open.delete(id)
    return waiting
  }

  return {
    start: async () => {
      running ??= start()
      await running.ready.promise
    },
    request: async (message, signal) => {
      signal?.throwIfAborted()
      if (isStopped) throw interrupted()
      running ??= start()
      const { process: child, open } = running
      const id = ++lastId
      const response = Promise.withResolvers<unknown>()
      open.set(id, response)
      const send = (what: object): void => {
        // If a message cannot be sent, the exit of the process rejects the request.
        if (child.connected) child.send(what, () => undefined)
      }
      const cancel = (): void => {
        open.delete(id)
        send({ kind: 'cancel', of: id })
        response.reject(signal?.reason)
      }
      signal?.addEventListener('abort', cancel, { once: true })
      try {
        send({ ...message, id })
        return await response.promise
      } finally {
        signal?.removeEventListener('abort', cancel)
      }
    },
    stop: async () => {
      isStopped = true
      const child = running?.process
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      if (child.connected) child.disconnect()
      const late = new AbortController()
      await Promise.race([exited, sleep(stopWithinMs, undefined, { signal: late.signal }).catch(() => {})])
      late.abort()
      child.kill('SIGKILL')
      await exited
    },
  }
}

function interrupted(): Status {
  return unavailable('the log store was interrupted; try again')
}

/** Returns a lower priority relative to the current one, which a process may not raise itself. */
function lowered(nice: number): number {
  return Math.min(getPriority() + nice, constants.priority.PRIORITY_LOW)
}
