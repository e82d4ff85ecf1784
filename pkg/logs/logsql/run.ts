import type { TimeSlices } from '../../scheduling/time-slices.ts'
import { allOf } from '../filter/expression.ts'
import type { LogFilter } from '../filter/filter.ts'
import type { LogStore, Order, QueryLimits, RowQuery } from '../store.ts'
import { createLineRow } from './pipes/by-row.ts'
import { neededFields } from './pipes/needed-fields.ts'
import { createPipeline } from './pipes/pipeline.ts'
import { createBudget, ended, sizeOfRow } from './pipes/stage.ts'
import { pushDown } from './push-down.ts'
import { type Filter, isByRow, type Pipe, type Query, type RowPipe } from './query.ts'
import type { Row } from './row.ts'
import { createTurns } from './yield-to-requests.ts'

/** The dependencies of running a query. */
export type Run = {
  readonly store: LogStore
  /** The scope of the caller, to which the query is limited. */
  readonly filter: LogFilter
  /**
   * The time limit applies between emitted rows; for a query that only emits at its end, to the
   * whole query.
   */
  readonly limits: QueryLimits
  readonly timeSlices: TimeSlices
  /** Memory limit until its end. */
  readonly maxBytes: number
}

const pageSize = 1000
// Rows of most queries are of few fields; the first page is often enough.
const rowPageSizes = { first: 1000, next: 8000 }
// Pipes may turn a page of lines into more data than fits into memory.
const maxHandedOut = 4 * 1024 * 1024

/** The query for the store, and the processing of its records. */
export type Plan = {
  /** Undefined when no record passes. */
  readonly filter: LogFilter | undefined
  /** What rows must pass in addition; `all` if the store finds exactly the records that pass. */
  readonly test: Filter
}

export function planQuery(within: LogFilter, query: Pick<Query, 'filter'>): Plan {
  const { startNs, endNs, expression, rest, isNever } = pushDown(query.filter)
  const joined = allOf([within.expression, expression].flatMap(part => part ?? []))
  const start = later(within.startNs, startNs)
  const end = earlier(within.endNs, endNs)
  const isEmpty = isNever || (start !== undefined && end !== undefined && start > end)
  return {
    filter: isEmpty
      ? undefined
      : {
          scope: within.scope,
          ...(start === undefined ? {} : { startNs: start }),
          ...(end === undefined ? {} : { endNs: end }),
          ...(joined === undefined ? {} : { expression: joined }),
        },
    test: rest,
  }
}

function later(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a
}

function earlier(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a
}

/**
 * Returns the rows of a query in batches, newest first as far as its pipes keep the order.
 *
 * @throws Status 400 if it needs too much memory, 504 if it takes too long, and errors of the store
 */
export async function* runQuery(run: Run, query: Query): AsyncGenerator<readonly Row[]> {
  const { order, pipes } = toScanOrder(query.pipes)
  const output = createOutput(run.maxBytes)
  const { filter, test } = planQuery(run.filter, query)
  const byRow = byRowFirst(pipes)
  const first = createPipeline(pipes.slice(byRow.length), output, createBudget(run.maxBytes))
  const turns = createTurns(run)
  let wantsMore = true
  const step = { order, test, pipes: byRow, fields: neededFields(test, pipes) }
  const pages = scan(run, filter, step, turns.leftMs)
  while (wantsMore) {
    const page = await pages.next()
    if (page.done) break
    for (const row of page.value) {
      if (turns.isOver()) await turns.next()
      if (row !== undefined) wantsMore = first.push(row)
      if (!wantsMore) break
      if (output.size() <= maxHandedOut) continue
      yield output.take()
      turns.restart()
    }
    if (output.size() === 0) continue
    // The time that the client takes to read does not count.
    yield output.take()
    turns.restart()
  }
  await pages.return(undefined)
  await turns.run(first.end())
  if (output.size() > 0) yield output.take()
}

/** The last stage: the rows that are to be handed out. */
function createOutput(maxBytes: number) {
  let rows: Row[] = []
  let size = 0
  // At the end all rows are emitted together, and later pipes may have made them larger.
  const budget = createBudget(2 * maxBytes)
  return {
    size: () => size,
    push: (row: Row) => {
      rows.push(row)
      const bytes = sizeOfRow(row)
      size += bytes
      budget.take(bytes)
      return true
    },
    end: ended,
    take(): readonly Row[] {
      const taken = rows
      rows = []
      budget.take(-size)
      size = 0
      return taken
    },
  }
}

/** The pipes at the beginning that handle each row separately. */
function byRowFirst(pipes: readonly Pipe[]): readonly RowPipe[] {
  const other = pipes.findIndex(pipe => !isByRow(pipe))
  return pipes.slice(0, other === -1 ? undefined : other).filter(isByRow)
}

type Step = Pick<RowQuery, 'order' | 'test' | 'pipes' | 'fields'>

/** The rows of each page; undefined for a line that makes none. */
async function* scan(
  { store, limits }: Run,
  filter: LogFilter | undefined,
  step: Step,
  leftMs: () => number,
): AsyncGenerator<Iterable<Row | undefined>> {
  if (filter === undefined) return
  const readPage = store.rows === undefined ? createLinePages(store, step) : createRowPages(store.rows, step)
  let start: RowQuery['start'] | undefined = { from: 0 }
  while (start !== undefined) {
    const { rows, next } = await readPage(filter, start, { ...limits, timeoutMs: leftMs() })
    yield rows
    start = next === undefined ? undefined : { after: next }
  }
}

type ReadPage = (
  filter: LogFilter,
  start: RowQuery['start'],
  limits: QueryLimits,
) => Promise<{ readonly rows: Iterable<Row | undefined>; readonly next?: string | undefined }>

function createRowPages(rows: NonNullable<LogStore['rows']>, step: Step): ReadPage {
  return (filter, start, limits) => {
    const size = 'from' in start ? rowPageSizes.first : rowPageSizes.next
    return rows({ ...step, filter, start, size }, limits)
  }
}

function createLinePages(store: LogStore, { order, ...step }: Step): ReadPage {
  const toLineRow = createLineRow(step)
  return async (filter, start, limits) => {
    const asked = { filter, order, size: pageSize, start, withTotal: false }
    const { hits, isCut } = await store.query(asked, limits)
    const hasMore = hits.length > 0 && (hits.length === pageSize || isCut)
    return {
      rows: hits.values().map(({ record }) => toLineRow(record)),
      next: hasMore ? hits.at(-1)?.cursor : undefined,
    }
  }
}

/** Sorting only by time is the order of the store, unless an earlier pipe changes the time. */
function toScanOrder(pipes: readonly Pipe[]): { readonly order: Order; readonly pipes: readonly Pipe[] } {
  const [first, ...others] = pipes
  const isByTime =
    first?.kind === 'sort' &&
    first.by.length === 1 &&
    first.by[0]?.field === '_time' &&
    first.rank === undefined &&
    first.partitionBy.length === 0
  if (!isByTime) return { order: 'desc', pipes }
  const { by, offset, limit } = first
  const cuts: readonly Pipe[] = [
    ...(offset > 0 ? [{ kind: 'offset', count: offset } as const] : []),
    ...(limit === undefined ? [] : [{ kind: 'limit', count: limit } as const]),
  ]
  return { order: by[0]?.isDescending ? 'desc' : 'asc', pipes: [...cuts, ...others] }
}
