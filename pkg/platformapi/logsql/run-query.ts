import type { Steps } from '../../logs/logsql/pipes/sort-in-steps.ts'
import type { Query } from '../../logs/logsql/query.ts'
import type { QueryTimeSlices } from '../../logs/logsql/query-time-slices.ts'
import type { Row } from '../../logs/logsql/row.ts'

/** Runs queries in the scope of the caller, for a response that is built in time slices. */
export type QueryRunner = {
  readonly rows: (query: Query) => AsyncIterable<readonly Row[]>
  readonly timeSlices: QueryTimeSlices
}

/** Passes all rows of a query to a function. */
export async function readRows(
  { rows, timeSlices }: QueryRunner,
  query: Query,
  use: (row: Row) => void,
): Promise<void> {
  // Rows are processed in time slices: a grouping pipe returns all of them in one page.
  for await (const page of rows(query)) await timeSlices.run(inSteps(page, use))
}

/** Calls a function for each item, one item per step. */
export function* inSteps<T>(items: Iterable<T>, use: (item: T) => void): Steps {
  for (const item of items) {
    use(item)
    yield
  }
}
