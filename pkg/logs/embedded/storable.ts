import { maxTimeNs } from '../record.ts'
import { dayOf } from './lines.ts'

/** Why a line of this time is not stored; undefined when it is. @param firstDay the first that is kept, in days since 1970 */
export function refusalOf(timeNs: bigint, firstDay: number): string | undefined {
  if (timeNs < 0n || timeNs > maxTimeNs) return 'the time is not between the years 1970 and 2262'
  if (dayOf(timeNs) >= firstDay) return undefined
  const date = new Date(firstDay * 86_400_000).toISOString().slice(0, 10)
  return `the time is before ${date}, and older lines are not kept`
}
