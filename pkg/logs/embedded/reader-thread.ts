import { parentPort, workerData } from 'node:worker_threads'
import { timedOut } from '../../status/status.ts'
import type { LogFilter } from '../filter.ts'
import type { Interval } from '../interval.ts'
import type { LogQuery } from '../store.ts'
import { createIsBusy, createTurns } from './bustle.ts'
import { createGarbage } from './garbage.ts'
import { createLasting } from './lasting.ts'
import { createPieceCache } from './piece-cache.ts'
import { createIsAsked } from './precedence.ts'
import { createReaderSources, type SourceChange } from './reader-sources.ts'
import { createRests } from './rests.ts'
import { searchArrivals, searchHistogram, searchPage, searchStatistics, type Work } from './search.ts'
import type { Segment } from './segment.ts'
import { toAnswer } from './thread.ts'
import { standBack } from './thread-priority.ts'

/** `precedence`: the memory of who goes first; `bustle`: that of what is done for others. */
export type ReaderSettings = {
  readonly cacheBytes: number
  /** What filters of words may take. */
  readonly filterBytes: number
  readonly precedence: SharedArrayBuffer
  readonly bustle: SharedArrayBuffer
}

export type ReaderQuestion = { readonly timeoutMs: number } & (
  | { readonly kind: 'query'; readonly query: LogQuery }
  | { readonly kind: 'statistics'; readonly filter: LogFilter }
  | { readonly kind: 'histogram'; readonly filter: LogFilter; readonly interval: Interval }
  | { readonly kind: 'arrivals'; readonly filter: LogFilter; readonly after: number; readonly size: number }
)

export type ReaderOrder =
  | ({ readonly kind: 'segments' } & SourceChange)
  | { readonly kind: 'cancel'; readonly of: number }

type Running = {
  readonly id: number
  readonly work: Work<unknown>
  readonly deadline: number
  readonly timeoutMs: number
  readonly startedAt: number
  readonly release: () => void
}

// Long enough to get somewhere, short enough that a small question does not wait for large ones.
const sliceMs = 5
const tendingMs = 1
const longMs = 100

// What shares its memory with others cannot be let go of by itself, and what is kept of it would keep all.
Buffer.poolSize = 0
// Before segments that are made, and behind the thread that serves all requests.
standBack(3)
const settings: ReaderSettings = workerData
const isAsked = createIsAsked(settings.precedence)
const isBusy = createIsBusy(settings.bustle)
const lasting = createLasting()
const garbage = createGarbage()
const sources = createReaderSources({
  cache: createPieceCache(settings.cacheBytes),
  answers: createPieceCache(settings.cacheBytes / 4),
  freshBytes: settings.cacheBytes,
  filterBytes: settings.filterBytes,
  rest: createRests({
    isWanted: () => isBusy() && lasting.isSo(running),
    turns: createTurns(settings.bustle),
  }),
  report: error => parentPort?.postMessage(toAnswer(0, error)),
})
let running: Running[] = []
let isScheduled = false

parentPort?.on(
  'message',
  (message: (ReaderOrder & { readonly id?: number }) | (ReaderQuestion & { readonly id: number })) => {
    if (message.kind === 'segments') {
      sources.change(message)
      schedule()
      garbage.collectBeyond(settings.cacheBytes / 2)
      if (message.id !== undefined) parentPort?.postMessage({ id: message.id, value: undefined })
    } else if (message.kind === 'cancel') {
      const cancelled = running.find(({ id }) => id === message.of)
      if (cancelled !== undefined) {
        end(cancelled)
        parentPort?.postMessage({ id: cancelled.id, value: undefined })
      }
    } else begin(message)
  },
)

function begin(question: ReaderQuestion & { readonly id: number }): void {
  const startedAt = performance.now()
  // Whoever asks for what came after a sequence does not ask for it again.
  const { segments, release } = sources.take(question.kind === 'arrivals')
  const { id, timeoutMs } = question
  const work = toWork(question, segments)
  running.push({ id, work, timeoutMs, startedAt, deadline: startedAt + timeoutMs, release })
  schedule()
}

function toWork(question: ReaderQuestion, all: readonly Segment[]): Work<unknown> {
  switch (question.kind) {
    case 'query':
      return searchPage(all, question.query)
    case 'statistics':
      return searchStatistics(all, question.filter)
    case 'histogram':
      return searchHistogram(all, question.filter, question.interval)
    case 'arrivals':
      return searchArrivals(all, question.filter, question)
  }
}

function schedule(): void {
  if (isScheduled || (running.length === 0 && !sources.isUntended())) return
  isScheduled = true
  setImmediate(() => {
    isScheduled = false
    const [first] = running
    if (first !== undefined) advance(first)
    // Somebody who waits for little is not to wait for this too.
    if (areAllOlder(longMs)) tend()
    garbage.collectBeyond(settings.cacheBytes / 2)
    schedule()
  })
}

/** Whether everything that is asked has taken more than that already. */
function areAllOlder(ms: number): boolean {
  const now = performance.now()
  return running.every(({ startedAt }) => now - startedAt > ms)
}

/** A moment, or until a question is on its way. */
function tend(): void {
  const end = performance.now() + tendingMs
  sources.tend(() => isAsked() || performance.now() > end)
}

/** A slice of work, then behind all the others. */
function advance(one: Running): void {
  const now = performance.now()
  try {
    do {
      if (performance.now() > one.deadline)
        throw timedOut(`the query was stopped: it took longer than ${one.timeoutMs} ms`)
      const { done, value } = one.work.next()
      if (done) {
        end(one)
        parentPort?.postMessage({ id: one.id, value })
        return
      }
    } while (performance.now() - now < sliceMs)
    running = [...running.filter(other => other !== one), one]
  } catch (error) {
    end(one)
    parentPort?.postMessage(toAnswer(one.id, error))
  }
}

function end(one: Running): void {
  lasting.ended(one)
  running = running.filter(other => other !== one)
  one.release()
}
