import { badRequest } from '../../apierrors/status.ts'
import { exportHits } from '../../logs/export.ts'
import { createPipeline, isByRow } from '../../logs/logsql/pipes/pipeline.ts'
import { createBudget, ended, type Stage } from '../../logs/logsql/pipes/stage.ts'
import type { Pipe } from '../../logs/logsql/query.ts'
import { type Row, toRow } from '../../logs/logsql/row.ts'
import { type Plan, planQuery, type Run } from '../../logs/logsql/run.ts'
import { charsOf } from '../../logs/record.ts'
import { type Hit, maxPageChars } from '../../logs/store.ts'
import { createRowFormat } from './format-rows.ts'
import type { Asked } from './parameters.ts'

const maxHistory = 10_000

/** The dependencies of a live tail. */
export type Tail = {
  readonly filter: NonNullable<ReturnType<typeof planQuery>['filter']> | undefined
  /** Formats a line; returns nothing if it does not match. */
  readonly format: (hits: readonly Hit[]) => string
  /** Lines since `start_offset`, oldest first. */
  readonly history: () => Promise<readonly Hit[]>
}

/** @throws Status 400 for pipes that need all rows */
export function planTail({ query }: Asked, within: Run['filter'], run: Run, since: bigint | undefined): Tail {
  const refused = query.pipes.find(pipe => !isByRow(pipe))
  if (refused !== undefined)
    throw badRequest(`query: the pipe ${refused.kind} needs all lines, which a tail has not`)
  const plan = planQuery(within, query)
  const formatRow = createRowFormat(query.pipes)
  const change = createChange(query.pipes)
  const toText = (rows: readonly Row[]) => rows.map(formatRow).join('')
  return {
    filter: plan.filter,
    format: hits => toText(hits.flatMap(({ record }) => change(toRow(record), plan.accepts))),
    history: async () => (since === undefined ? [] : readHistory(run, plan, since)),
  }
}

/** @throws Status 400 when there are too many */
async function readHistory(run: Run, { filter, accepts }: Plan, since: bigint): Promise<readonly Hit[]> {
  if (filter === undefined) return []
  const startNs = filter.startNs !== undefined && filter.startNs > since ? filter.startNs : since
  const found: Hit[] = []
  let chars = 0
  let sliceEnd = performance.now() + run.timeSlices.sliceMs
  const asked = { filter: { ...filter, startNs }, order: 'asc', limit: Infinity } as const
  for await (const hits of exportHits(run.store, asked, run.limits)) {
    for (const hit of hits) {
      if (performance.now() > sliceEnd) {
        await run.timeSlices.next()
        run.limits.signal?.throwIfAborted()
        sliceEnd = performance.now() + run.timeSlices.sliceMs
      }
      if (!accepts(toRow(hit.record))) continue
      found.push(hit)
      chars += charsOf(hit.record)
      if (found.length > maxHistory || chars > maxPageChars)
        throw badRequest(
          `invalid start_offset: more than ${maxHistory} lines, or ${maxPageChars / 1024 / 1024} MiB of them, have arrived since`,
        )
    }
  }
  return found
}

function createChange(pipes: readonly Pipe[]): (row: Row, accepts: (row: Row) => boolean) => readonly Row[] {
  let changed: Row[] = []
  const last: Stage = {
    push: row => {
      changed.push(row)
      return true
    },
    end: ended,
  }
  const first = createPipeline(pipes, last, createBudget(Infinity))
  return (row, accepts) => {
    changed = []
    if (accepts(row)) first.push(row)
    return changed
  }
}
