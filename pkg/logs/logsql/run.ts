import type { TimeSlices } from '../../scheduling/time-slices.ts'
import { allOf } from '../expression.ts'
import type { LogFilter } from '../filter.ts'
import type { Hit, LogStore, Order, QueryLimits } from '../store.ts'
import { createRowTest } from './match-row.ts'
import { createPipeline } from './pipes/pipeline.ts'
import { createBudget, ended, sizeOfRow } from './pipes/stage.ts'
import { pushDown } from './push-down.ts'
import type { Pipe, Query } from './query.ts'
import { type Row, toRow } from './row.ts'
import { createTurns } from './turns.ts'

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
// Pipes may turn a page of lines into more data than fits into memory.
const maxHandedOut = 4 * 1024 * 1024

/** The query for the store, and the processing of its records. */
export type Plan = {
  /** Undefined when no record passes. */
  readonly filter: LogFilter | undefined
  /** Whether the store finds exactly the records that pass. */
  readonly isExact: boolean
  readonly accepts: (row: Row) => boolean
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
    isExact: rest.op === 'all',
    accepts: createRowTest(rest),
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
  const first = createPipeline(pipes, output, createBudget(run.maxBytes))
  const plan = planQuery(run.filter, query)
  const turns = createTurns(run)
  let wantsMore = true
  const pages = scan(run, plan.filter, order, turns.leftMs)
  while (wantsMore) {
    const page = await pages.next()
    if (page.done) break
    for (const { record } of page.value) {
      if (turns.isOver()) await turns.next()
      const row = toRow(record)
      if (plan.accepts(row)) wantsMore = first.push(row)
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

async function* scan(
  { store, limits }: Run,
  filter: LogFilter | undefined,
  order: Order,
  leftMs: () => number,
): AsyncGenerator<readonly Hit[]> {
  if (filter === undefined) return
  let start: { readonly from: number } | { readonly after: string } = { from: 0 }
  for (;;) {
    const asked = { filter, order, size: pageSize, start, withTotal: false }
    const { hits, isCut } = await store.query(asked, { ...limits, timeoutMs: leftMs() })
    if (hits.length > 0) yield hits
    const last = hits.at(-1)
    if (last === undefined || (hits.length < pageSize && !isCut)) return
    start = { after: last.cursor }
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
