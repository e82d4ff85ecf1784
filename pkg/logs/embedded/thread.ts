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

/** Another thread that answers questions, and is started anew when it breaks. */
export type Thread = {
  /** @throws Status 503 when the thread breaks meanwhile */
  readonly ask: (question: object) => { readonly id: number; readonly answer: Promise<unknown> }
  readonly tell: (message: object) => void
  readonly stop: () => Promise<void>
}

export type ThreadSettings = {
  readonly script: URL
  readonly heapMb: number
  readonly data?: object
  /** What it must be told first, each time it starts. */
  readonly greet?: () => object
  readonly onBreak: (error: unknown) => void
}

export function startThread(settings: ThreadSettings): Thread {
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>()
  let lastId = 0
  let isStopped = false
  let worker = start()

  function start(): Worker {
    const { script, heapMb, data, greet } = settings
    const created = new Worker(script, {
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 6 },
      ...(data === undefined ? {} : { workerData: data }),
    })
    created.on('message', receive)
    created.on('error', settings.onBreak)
    created.on('exit', () => {
      for (const { reject } of open.values()) reject(unavailable('the log store was interrupted; try again'))
      open.clear()
      if (!isStopped) worker = start()
    })
    if (greet !== undefined) created.postMessage(greet())
    return created
  }

  function receive(answer: Answer): void {
    const waiting = open.get(answer.id)
    // Number 0 is nobody's question: something went wrong that somebody should know of.
    if (answer.id === 0 && 'message' in answer) settings.onBreak(new Error(answer.message))
    open.delete(answer.id)
    if ('value' in answer) waiting?.resolve(answer.value)
    else waiting?.reject(toError(answer))
  }

  return {
    tell: message => worker.postMessage(message),
    ask: question => {
      const id = ++lastId
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      open.set(id, { resolve, reject })
      worker.postMessage({ ...question, id })
      return { id, answer: promise }
    },
    stop: async () => {
      isStopped = true
      await worker.terminate()
    },
  }
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
