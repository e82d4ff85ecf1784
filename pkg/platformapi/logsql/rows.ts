import type { Query } from '../../logs/logsql/query.ts'
import type { Row } from '../../logs/logsql/row.ts'

/** Runs a query within what the caller may see. */
export type Rows = (query: Query) => AsyncIterable<readonly Row[]>
