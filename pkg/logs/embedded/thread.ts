import { Worker } from 'node:worker_threads'
import { Status, unavailable } from '../../status/status.ts'

/** What a thread answers. An error that is meant for the caller keeps what a Status has. */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number
      readonly message: string
      readonly status?: { code: number; reason: Status['reason'] }
    }

/**
 * Another thread that answers questions. It starts with the first of them, stops when there were none for a while, and is
 * started anew when it breaks.
 */
export type Thread = {
  /** @throws Status 503 when the thread breaks meanwhile */
  readonly ask: (question: object) => { readonly id: number; readonly answer: Promise<unknown> }
  /** As `ask`, of a thread that runs; one that does not is greeted when it starts, and undefined is the answer. */
  readonly update: (question: object) => Promise<unknown>
  /** Nothing is told to a thread that does not run. */
  readonly tell: (message: object) => void
  readonly stop: () => Promise<void>
}

export type ThreadSettings = {
  readonly script: URL
  readonly heapMb: number
  /** Of it for what has just been made: with more, it is looked through less often. */
  readonly youngMb: number
  readonly data?: object
  /** What it must be told first, each time it starts. */
  readonly greet?: () => object
  /** How long it runs with nothing to do: what it has in memory is kept for that long. */
  readonly idleMs?: number
  readonly onBreak: (error: unknown) => void
}

type Running = {
  readonly worker: Worker
  readonly open: Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>
  idle: NodeJS.Timeout | undefined
}

const defaultIdleMs = 3 * 60_000

export function createThread(settings: ThreadSettings): Thread {
  const { script, heapMb, youngMb, data, greet, idleMs = defaultIdleMs, onBreak } = settings
  const ending = new Set<Promise<unknown>>()
  let lastId = 0
  let isStopped = false
  let running: Running | undefined

  function start(): Running {
    const worker = new Worker(script, {
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb },
      ...(data === undefined ? {} : { workerData: data }),
    })
    const started: Running = { worker, open: new Map(), idle: undefined }
    worker.on('message', answer => receive(started, answer))
    worker.on('error', onBreak)
    worker.on('exit', () => {
      if (running === started) running = undefined
      clearTimeout(started.idle)
      for (const { reject } of started.open.values()) reject(interrupted())
      started.open.clear()
    })
    if (greet !== undefined) worker.postMessage(greet())
    return started
  }

  function receive(from: Running, answer: Answer): void {
    const waiting = from.open.get(answer.id)
    // Number 0 is nobody's question: something went wrong that somebody should know of.
    if (answer.id === 0 && 'message' in answer) onBreak(new Error(answer.message))
    from.open.delete(answer.id)
    if ('value' in answer) waiting?.resolve(answer.value)
    else waiting?.reject(toError(answer))
    if (from.open.size === 0 && running === from) from.idle = setTimeout(end, idleMs, from).unref()
  }

  function end(one: Running): void {
    if (one.open.size > 0 || running !== one) return
    running = undefined
    const ended = one.worker.terminate()
    ending.add(ended)
    void ended.finally(() => ending.delete(ended))
  }

  function askOf(one: Running, question: object): { readonly id: number; readonly answer: Promise<unknown> } {
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    clearTimeout(one.idle)
    one.open.set(id, { resolve, reject })
    one.worker.postMessage({ ...question, id })
    return { id, answer: promise }
  }

  return {
    tell: message => running?.worker.postMessage(message),
    update: async question => (running === undefined ? undefined : askOf(running, question).answer),
    ask: question => {
      if (isStopped) return { id: 0, answer: Promise.reject(interrupted()) }
      running ??= start()
      return askOf(running, question)
    },
    stop: async () => {
      isStopped = true
      await Promise.all([running?.worker.terminate(), ...ending])
    },
  }
}

function interrupted(): Status {
  return unavailable('the log store was interrupted; try again')
}

/** What a thread sends for something that was thrown. */
export function toAnswer(id: number, error: unknown): Answer {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Status) return { id, message, status: { code: error.code, reason: error.reason } }
  const isFull =
    error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  return isFull ? { id, message, status: { code: 507, reason: 'InsufficientStorage' } } : { id, message }
}

function toError(answer: Exclude<Answer, { value: unknown }>): Error {
  const { message, status } = answer
  return status === undefined ? new Error(message) : new Status(status.code, status.reason, message)
}
