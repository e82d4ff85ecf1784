import type { TimeSlices } from '../../scheduling/time-slices.ts'
import { allOf } from '../filter/expression.ts'
import type { LogFilter } from '../filter/filter.ts'
import { maxTimeNs } from '../record.ts'
import type { LogStore, Order, QueryLimits, RowQuery } from '../store.ts'
import { neededFields } from './pipes/needed-fields.ts'
import { createPipeline } from './pipes/pipeline.ts'
import { createLineRow } from './pipes/row-change.ts'
import { createBudget, endWithoutRows, sizeOfRow } from './pipes/stage.ts'
import { pushDown } from './push-down.ts'
import { allFilters, type Filter, isByRow, type Pipe, type Query, type RowPipe } from './query.ts'
import { createQueryTimeSlices } from './query-time-slices.ts'
import type { Row } from './row.ts'
import { originFields, planStoreCount, type StoreCount } from './store-counts.ts'

export type QueryRun = {
  readonly store: LogStore
  /** The filter of the caller's scope, which limits the query. */
  readonly filter: LogFilter
  /**
   * The timeout applies between emitted batches of rows. For a query that only emits at its end, it
   * applies to the whole query.
   */
  readonly limits: QueryLimits
  readonly timeSlices: TimeSlices
  /** Memory limit of the pipeline. */
  readonly maxBytes: number
}

const pageSize = 1000
// Rows per page. Rows usually have few fields, and a small first page is often enough.
const rowPageSizes = { first: 1000, next: 8000 }
// Maximum size of a batch of rows: pipes may enlarge a page of lines to more than fits into memory.
const maxHandedOut = 4 * 1024 * 1024

/** The query for the store, and the test of its results. */
export type Plan = {
  /** Undefined if no record can match. */
  readonly filter: LogFilter | undefined
  /** Test for the rows of found records; `all` if the store finds exactly the matching records. */
  readonly test: Filter
}

/** Splits a query into what the store evaluates, and the test of the rows it returns. */
export function planQuery(within: LogFilter, query: Pick<Query, 'filter'>): Plan {
  const { startNs, endNs, expression, rest, isNever } = pushDown(query.filter)
  const filter = {
    scope: within.scope,
    startNs: later(within.startNs, startNs),
    endNs: earlier(within.endNs, endNs),
    expression: allOf([within.expression, expression]),
  }
  const isEmpty = isNever || (filter.startNs ?? 0n) > (filter.endNs ?? maxTimeNs)
  return { filter: isEmpty ? undefined : filter, test: rest }
}

function later(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a
}

function earlier(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a
}

/**
 * Yields the rows of a query in batches, newest first unless its pipes change the order.
 *
 * @throws Status 400 if it needs too much memory, 504 if it takes too long; errors of the store
 */
export async function* runQuery(run: QueryRun, parsedQuery: Query): AsyncGenerator<readonly Row[]> {
  const output = createOutput(run.maxBytes)
  const slices = createQueryTimeSlices(run)
  const { pages, pipes, linesOf = () => 1 } = readFirst(run, withFirstFilters(parsedQuery), slices.leftMs)
  const first = createPipeline(pipes, output, createBudget(run.maxBytes))
  let wantsMore = true
  while (wantsMore) {
    const page = await pages.next()
    if (page.done) break
    for (const row of page.value) {
      if (slices.isOver()) await slices.next()
      if (row !== undefined) wantsMore = first.push(row, linesOf(row))
      if (!wantsMore) break
      if (output.size() <= maxHandedOut) continue
      yield output.take()
      slices.restart()
    }
    if (output.size() === 0) continue
    // Restarts the timeout: the time that the client takes to read does not count.
    yield output.take()
    slices.restart()
  }
  await pages.return(undefined)
  await slices.run(first.end())
  if (output.size() > 0) yield output.take()
}

type Pages = AsyncGenerator<Iterable<Row | undefined>>

type First = {
  readonly pages: Pages
  readonly pipes: readonly Pipe[]
  /** Returns the number of lines that a row stands for; by default 1. */
  readonly linesOf?: (row: Row) => number
}

/** Returns what the store contributes: pages of rows, and the pipes after it. */
function readFirst(run: QueryRun, query: Query, leftMs: () => number): First {
  const { order, pipes } = toScanOrder(query.pipes)
  const { filter, test } = planQuery(run.filter, query)
  const count = planStoreCount(filter, test, pipes[0])
  if (count !== undefined) return { pages: countRows(run, count, leftMs), pipes: pipes.slice(1) }
  const fields = originFields(test, pipes[0])
  if (filter !== undefined && run.store.origins !== undefined && fields !== undefined)
    return { ...readOrigins(run, run.store.origins, { filter, test, fields }, leftMs), pipes }
  const byRow = byRowFirst(pipes)
  const step = { order, test, pipes: byRow, fields: neededFields(test, pipes) }
  return { pages: scan(run, filter, step, leftMs), pipes: pipes.slice(byRow.length) }
}

/** Makes `filter` pipes before all others a part of the filter, for which the store has an index. */
function withFirstFilters({ filter, pipes }: Query): Query {
  const [first, ...others] = pipes
  if (first?.kind !== 'filter') return { filter, pipes }
  return withFirstFilters({ filter: allFilters([filter, first.filter]), pipes: others })
}

/** Creates the last stage, which collects rows until they are emitted. */
function createOutput(maxBytes: number) {
  let rows: Row[] = []
  let size = 0
  // At the end of a query all rows are collected before they are emitted. Twice the limit, because
  // later pipes may have enlarged them.
  const budget = createBudget(2 * maxBytes)
  return {
    size: () => size,
    push: (row: Row) => {
      // Pipes count a row without fields, but it is not a result.
      if (row.size === 0) return true
      rows.push(row)
      const bytes = sizeOfRow(row)
      size += bytes
      budget.take(bytes)
      return true
    },
    end: endWithoutRows,
    take(): readonly Row[] {
      const taken = rows
      rows = []
      budget.take(-size)
      size = 0
      return taken
    },
  }
}

/** Returns the leading pipes that handle each row independently. */
function byRowFirst(pipes: readonly Pipe[]): readonly RowPipe[] {
  const other = pipes.findIndex(pipe => !isByRow(pipe))
  return pipes.slice(0, other === -1 ? undefined : other).filter(isByRow)
}

type Step = Pick<RowQuery, 'order' | 'test' | 'pipes' | 'fields'>

/** Yields the rows of each page; undefined for a line without a row. */
async function* scan(
  { store, limits }: QueryRun,
  filter: LogFilter | undefined,
  step: Step,
  leftMs: () => number,
): Pages {
  if (filter === undefined) return
  const readPage = store.rows === undefined ? createLinePages(store, step) : createRowPages(store.rows, step)
  let start: RowQuery['start'] | undefined = { from: 0 }
  while (start !== undefined) {
    const from: RowQuery['start'] = start
    const page: Page = await inTime(limits, leftMs, left => readPage(filter, from, left))
    yield page.rows
    start = page.next === undefined ? undefined : { after: page.next }
  }
}

/** Yields the rows that a store has counted. */
async function* countRows(
  { store, limits }: QueryRun,
  count: StoreCount,
  leftMs: () => number,
): AsyncGenerator<readonly Row[]> {
  yield await inTime(limits, leftMs, left => count(store, left))
}

/** Reads a row for each origin. */
function readOrigins(
  { limits }: QueryRun,
  origins: NonNullable<LogStore['origins']>,
  { filter, ...step }: { readonly filter: LogFilter } & Pick<RowQuery, 'test' | 'fields'>,
  leftMs: () => number,
): Omit<First, 'pipes'> {
  const lines = new Map<Row, number>()
  const toLineRow = createLineRow({ ...step, pipes: [] })
  async function* pages(): Pages {
    for (const countRows of await inTime(limits, leftMs, left => origins(filter, left))) {
      const row = toLineRow({ ...countRows.origin, timeNs: 0n, log: '' })
      if (row !== undefined) lines.set(row, countRows.lines)
    }
    yield lines.keys()
  }
  return { pages: pages(), linesOf: row => lines.get(row) ?? 1 }
}

/** Calls the store with the remaining time. */
async function inTime<T>(
  limits: QueryLimits,
  leftMs: () => number,
  call: (left: QueryLimits) => Promise<T>,
): Promise<T> {
  try {
    return await call({ ...limits, timeoutMs: leftMs() })
  } catch (error) {
    // Throws the timeout error of the whole query if its time has expired. The error of the store
    // would name only the remaining time.
    leftMs()
    throw error
  }
}

type Page = { readonly rows: Iterable<Row | undefined>; readonly next?: string | undefined }
type ReadPage = (filter: LogFilter, start: RowQuery['start'], limits: QueryLimits) => Promise<Page>

function createRowPages(rows: NonNullable<LogStore['rows']>, step: Step): ReadPage {
  return (filter, start, limits) => {
    const size = 'from' in start ? rowPageSizes.first : rowPageSizes.next
    return rows({ ...step, filter, start, size }, limits)
  }
}

function createLinePages(store: LogStore, { order, ...step }: Step): ReadPage {
  const toLineRow = createLineRow(step)
  return async (filter, start, limits) => {
    const page = { filter, order, size: pageSize, start, withTotal: false }
    const { hits, isCut } = await store.query(page, limits)
    const hasMore = hits.length > 0 && (hits.length === pageSize || isCut)
    return {
      rows: hits.values().map(({ record }) => toLineRow(record)),
      next: hasMore ? hits.at(-1)?.cursor : undefined,
    }
  }
}

/** Lets the store sort if the first pipe does so by time only. Returns other pipes. */
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
