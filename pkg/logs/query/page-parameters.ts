import { badRequest, type Status } from '../../apierrors/status.ts'
import type { LogFilter } from '../filter/filter.ts'
import { type LogQuery, maxPageChars } from '../store.ts'
import type { Parameters } from './parameters.ts'

/** Maximum of from + size, as in Elasticsearch. Deeper pages need a cursor. */
export const maxWindow = 10_000
const nsPerSecond = 1_000_000_000n

/** Parses start_time and end_time. @throws Status 400 */
export function readTimes({ seconds }: Parameters): Pick<LogFilter, 'startNs' | 'endNs'> {
  const [start, end] = [seconds('start_time'), seconds('end_time')]
  if (start !== undefined && end !== undefined && start > end) {
    throw badRequest(`start_time (${start}) must not be after end_time (${end})`)
  }
  const toNs = (time: number | undefined) => (time === undefined ? undefined : BigInt(time) * nsPerSecond)
  return { startNs: toNs(start), endNs: toNs(end) }
}

/** Parses from and size. @throws Status 400 */
export function readCounts({ integer }: Parameters): { readonly from: number; readonly size: number } {
  return {
    from: integer('from', { fallback: 0 }),
    size: integer('size', { fallback: 10 }),
  }
}

/** Parses from, size and cursor. @throws Status 400 */
export function readPage(parameters: Parameters): Pick<LogQuery, 'size' | 'start'> {
  const { from, size } = readCounts(parameters)
  const after = parameters.text('cursor')
  if (after !== '' && from > 0) throw badRequest('from and cursor cannot be combined')
  if (from + size > maxWindow) {
    throw badRequest(
      `from + size must be at most ${maxWindow}, not ${from + size}; for further records use with_cursor=true, and then cursor= with the cursor of the last record`,
    )
  }
  return { size, start: after === '' ? { from } : { after } }
}

/** Returns the error for a page beyond the limit: cut short, it would look like the last. */
export function tooMuchText(parameter: string, fitting: number): Status {
  return badRequest(
    `${parameter} must be at most ${fitting}: the records are long, and a response is limited to ${maxPageChars / 1024 / 1024} MiB`,
  )
}
