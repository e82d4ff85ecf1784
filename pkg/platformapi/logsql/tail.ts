import { badRequest } from '../../apierrors/status.ts'
import { createPipeline, isByRow } from '../../logs/logsql/pipes/pipeline.ts'
import { createBudget, type Stage } from '../../logs/logsql/pipes/stage.ts'
import type { Pipe } from '../../logs/logsql/query.ts'
import { type Row, toRow } from '../../logs/logsql/row.ts'
import { planQuery, type Run, runQuery } from '../../logs/logsql/run.ts'
import type { Hit } from '../../logs/store.ts'
import { createRowFormat } from './format-rows.ts'
import type { Asked } from './parameters.ts'

const maxHistory = 10_000

/** What a tail is made of. */
export type Tail = {
  readonly filter: NonNullable<ReturnType<typeof planQuery>['filter']> | undefined
  /** What a line that arrives is shown as; nothing when it does not pass. */
  readonly format: (hits: readonly Hit[]) => string
  /** What has arrived since `start_offset`, oldest first. */
  readonly history: () => Promise<string>
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
    history: async () => {
      if (since === undefined) return ''
      const rows: Row[] = []
      const filter = { ...within, startNs: since }
      for await (const page of runQuery({ ...run, filter }, query)) {
        rows.push(...page)
        if (rows.length > maxHistory)
          throw badRequest(`invalid start_offset: more than ${maxHistory} lines have arrived since`)
      }
      return toText(rows.reverse())
    },
  }
}

function createChange(pipes: readonly Pipe[]): (row: Row, accepts: (row: Row) => boolean) => readonly Row[] {
  let changed: Row[] = []
  const last: Stage = {
    push: row => {
      changed.push(row)
      return true
    },
    end: () => undefined,
  }
  const first = createPipeline(pipes, last, createBudget(Infinity))
  return (row, accepts) => {
    changed = []
    if (accepts(row)) first.push(row)
    return changed
  }
}
