import { badRequest } from '../../apierrors/status.ts'
import { exportHits } from '../../logs/export-records.ts'
import type { LogFilter } from '../../logs/filter/filter.ts'
import { createLineRow } from '../../logs/logsql/pipes/row-change.ts'
import { isByRow } from '../../logs/logsql/query.ts'
import { createQueryTimeSlices } from '../../logs/logsql/query-time-slices.ts'
import { type Plan, planQuery, type QueryRun } from '../../logs/logsql/run-query.ts'
import { charsOf } from '../../logs/record.ts'
import { type Hit, maxPageChars } from '../../logs/store.ts'
import { createRowFormat } from './format-rows.ts'
import { type LogsqlParameters, readQuery } from './parameters.ts'
import { inSteps } from './run-query.ts'

const maxHistory = 10_000

/** The dependencies of a live tail. */
export type Tail = {
  readonly filter: LogFilter | undefined
  /** Formats the matching lines, in time slices, as a filter may take long. @throws Status 504 */
  readonly format: (hits: readonly Hit[]) => Promise<string>
  /** Returns the lines since `start_offset`, oldest first. */
  readonly history: () => Promise<readonly Hit[]>
}

/** Prepares a live tail. @throws Status 400, also for pipes that need all rows */
export function planTail(parameters: LogsqlParameters, run: QueryRun, nowNs: bigint): Tail {
  const { query } = readQuery(parameters, nowNs)
  const offset = parameters.duration('start_offset', '0s')
  const unsupported = query.pipes.find(pipe => !isByRow(pipe))
  if (unsupported !== undefined)
    throw badRequest(`query: the pipe ${unsupported.kind} needs all lines, which a tail does not have`)
  const plan = planQuery(run.filter, query)
  const formatRow = createRowFormat(query.pipes)
  const toLineRow = createLineRow({ test: plan.test, pipes: query.pipes.filter(isByRow), fields: undefined })
  const timeSlices = createQueryTimeSlices(run)
  return {
    filter: plan.filter,
    async format(hits) {
      timeSlices.restart()
      let text = ''
      const add = ({ record }: Hit) => {
        const row = toLineRow(record)
        if (row !== undefined && row.size > 0) text += formatRow(row)
      }
      await timeSlices.run(inSteps(hits, add))
      return text
    },
    history: async () => (offset > 0n ? readHistory(run, plan, nowNs - offset) : []),
  }
}

/** Reads the lines since a time. @throws Status 400 if there are too many */
async function readHistory(run: QueryRun, { filter, test }: Plan, since: bigint): Promise<readonly Hit[]> {
  if (filter === undefined) return []
  const toLineRow = createLineRow({ test, pipes: [], fields: undefined })
  const startNs = filter.startNs !== undefined && filter.startNs > since ? filter.startNs : since
  const found: Hit[] = []
  let chars = 0
  // One deadline for all pages, since most lines may not match the filter.
  const timeSlices = createQueryTimeSlices(run)
  const exportQuery = { filter: { ...filter, startNs }, order: 'asc', limit: Infinity } as const
  for await (const hits of exportHits(run.store, exportQuery, run.limits)) {
    for (const hit of hits) {
      if (timeSlices.isOver()) await timeSlices.next()
      if (toLineRow(hit.record) === undefined) continue
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
