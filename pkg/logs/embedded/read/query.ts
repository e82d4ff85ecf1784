import { createHash } from 'node:crypto'
import { allOf, type Expression, isOneOf } from '../../filter/expression.ts'
import type { LogFilter } from '../../filter/filter.ts'
import { createRuleFinder } from '../namespace-rules.ts'
import { dayOf, timeInDay } from '../partition/day.ts'
import type { PartitionReader } from '../partition/partition-reader.ts'
import { type IndexPlan, planIndex } from './index-plan.ts'

/** A filter, prepared for evaluation in any number of partitions. */
export type Query = {
  readonly filter: LogFilter
  /** The conditions of the filter without its time range. */
  readonly expression: Expression
  /** Returns the first day (UTC) whose lines of a namespace are visible. */
  readonly firstDayOf: (namespace: string) => number
  /** Cache key. Equal for equal expressions, scopes and retention rules. */
  readonly key: string
}

/** A query for one partition. Times are relative to the day of the partition. */
export type PartitionQuery = {
  readonly query: Query
  readonly plan: IndexPlan
  readonly start: number
  readonly end: number
  /** For each stream, the time from which its lines are visible; undefined if all are visible. */
  readonly since: readonly number[] | undefined
}

export function toQuery(filter: LogFilter): Query {
  const { scope } = filter
  const namespaces = scope === 'everything' ? undefined : scope.map(({ namespace }) => namespace)
  const inScope = namespaces && isOneOf('namespace', namespaces)
  const expression = allOf([inScope, filter.expression]) ?? { op: 'and', operands: [] }
  return {
    filter,
    expression,
    firstDayOf: createFirstDay(filter),
    key: keyOf([expression, scope, filter.keep]),
  }
}

/** Applies a query to a partition; undefined if its day is outside of the time range. */
export function toPartitionQuery(
  query: Query,
  { day, streams }: Pick<PartitionReader, 'day' | 'streams'>,
): PartitionQuery | undefined {
  const { startNs = 0n, endNs } = query.filter
  if (dayOf(startNs) > day || (endNs !== undefined && (endNs < 0n || dayOf(endNs) < day))) return undefined
  const toTime = (ns: bigint): number => {
    const difference = dayOf(ns) - day
    return difference === 0 ? timeInDay(ns) : difference * Number.POSITIVE_INFINITY
  }
  return {
    query,
    plan: planIndex(query.expression, streams),
    start: toTime(startNs),
    end: endNs === undefined ? Number.POSITIVE_INFINITY : toTime(endNs),
    since: sinceOf(query, day, streams, toTime),
  }
}

function sinceOf(
  { filter: { scope, keep = [] }, firstDayOf }: Query,
  day: number,
  streams: PartitionReader['streams'],
  toTime: (ns: bigint) => number,
): readonly number[] | undefined {
  const hidesSome = keep.some(({ fromDay }) => day < fromDay)
  if (scope === 'everything' && !hidesSome) return undefined
  const permitted = scope === 'everything' ? [] : scope
  const since = new Map(permitted.map(({ namespace, sinceNs }) => [namespace, toTime(sinceNs)]))
  // Other namespaces need no time: the expression excludes them.
  const times = streams.map(({ namespace }) =>
    hidesSome && day < firstDayOf(namespace) ? Number.POSITIVE_INFINITY : (since.get(namespace) ?? 0),
  )
  return times.every(time => time <= 0) ? undefined : times
}

/** Shared by all partitions, because the rule finder caches names. */
function createFirstDay({ keep = [] }: LogFilter): (namespace: string) => number {
  if (keep.length === 0) return () => 0
  const ruleOf = createRuleFinder(keep)
  return namespace => ruleOf(namespace)?.fromDay ?? 0
}

function keyOf(value: unknown): string {
  const text = JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner))
  return createHash('sha256').update(text).digest('base64')
}
