import { parentPort, workerData } from 'node:worker_threads'
import { timedOut } from '../../status/status.ts'
import type { LogFilter } from '../filter.ts'
import type { Interval } from '../interval.ts'
import type { LogQuery } from '../store.ts'
import { createGarbage } from './garbage.ts'
import type { LogRange } from './log-range.ts'
import { collectLines } from './merge.ts'
import { openLines } from './open-lines.ts'
import { createPieceCache } from './piece-cache.ts'
import { searchArrivals, searchHistogram, searchPage, searchStatistics, type Work } from './search.ts'
import { openSegment, type Segment } from './segment.ts'
import { openSource, type SourceName } from './source.ts'
import { toAnswer } from './thread.ts'

export type ReaderSettings = { readonly cacheBytes: number }

export type ReaderQuestion = { readonly timeoutMs: number } & (
  | { readonly kind: 'query'; readonly query: LogQuery }
  | { readonly kind: 'statistics'; readonly filter: LogFilter }
  | { readonly kind: 'histogram'; readonly filter: LogFilter; readonly interval: Interval }
  | { readonly kind: 'arrivals'; readonly filter: LogFilter; readonly after: number; readonly size: number }
)

export type ReaderOrder =
  | { readonly kind: 'segments'; readonly add: readonly ReaderSource[]; readonly remove: readonly string[] }
  | { readonly kind: 'cancel'; readonly of: number }

/** A segment in a file, or lines that are in none yet, as they stand in a write-ahead log. */
export type ReaderSource = SourceName | { readonly id: string; readonly log: LogRange }

type Open = { readonly segments: readonly Segment[]; users: number; isRemoved: boolean }
type Running = {
  readonly id: number
  readonly work: Work<unknown>
  readonly deadline: number
  readonly timeoutMs: number
  readonly using: readonly Open[]
}

// Long enough to get somewhere, short enough that a small question does not wait for large ones.
const sliceMs = 5

const settings: ReaderSettings = workerData
const cache = createPieceCache(settings.cacheBytes)
const garbage = createGarbage()
const segments = new Map<string, Open>()
let running: Running[] = []
let isScheduled = false

parentPort?.on(
  'message',
  (message: (ReaderOrder & { readonly id?: number }) | (ReaderQuestion & { readonly id: number })) => {
    if (message.kind === 'segments') {
      for (const id of message.remove) remove(id)
      for (const name of message.add) add(name)
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

function add(name: ReaderSource): void {
  // A thread that was just started has been told of the newest already.
  if (segments.has(name.id)) return
  try {
    segments.set(name.id, { segments: openAll(name), users: 0, isRemoved: false })
  } catch (error) {
    // The others must go on being found.
    parentPort?.postMessage(toAnswer(0, error))
  }
}

function openAll(name: ReaderSource): readonly Segment[] {
  if ('file' in name) return [openSegment(name.id, openSource(name), cache)]
  const days = collectLines({ logs: [name.log], segments: [] })
  return days.map(lines => openLines(name.id, lines.finish()))
}

function begin(question: ReaderQuestion & { readonly id: number }): void {
  const using = [...segments.values()]
  for (const open of using) open.users += 1
  const { id, timeoutMs } = question
  const work = toWork(
    question,
    using.flatMap(open => open.segments),
  )
  running.push({ id, work, timeoutMs, deadline: performance.now() + timeoutMs, using })
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
  if (isScheduled || running.length === 0) return
  isScheduled = true
  setImmediate(() => {
    isScheduled = false
    const [first] = running
    if (first !== undefined) advance(first)
    garbage.collectBeyond(settings.cacheBytes / 2)
    schedule()
  })
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
  running = running.filter(other => other !== one)
  for (const open of one.using) {
    open.users -= 1
    closeUnused(open)
  }
}

function remove(id: string): void {
  const open = segments.get(id)
  if (open === undefined) return
  segments.delete(id)
  open.isRemoved = true
  closeUnused(open)
}

function closeUnused(open: Open): void {
  if (open.isRemoved && open.users === 0) for (const segment of open.segments) segment.close()
}
