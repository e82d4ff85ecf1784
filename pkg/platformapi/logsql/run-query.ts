import type { Query } from '../../logs/logsql/query.ts'
import type { Row } from '../../logs/logsql/row.ts'

/** Runs a query in the scope of the caller. */
export type Rows = (query: Query) => AsyncIterable<readonly Row[]>
