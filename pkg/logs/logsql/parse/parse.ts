import { badRequest } from '../../../apierrors/status.ts'
import { createLimits, type Limits } from '../limits.ts'
import type { Filter, Query } from '../query.ts'
import { parseFilter } from './filter.ts'
import { parsePipes } from './pipes.ts'
import { Tokens } from './tokenizer.ts'
import type { FilterContext } from './values.ts'

/**
 * Parses a LogsQL query (https://docs.victoriametrics.com/victorialogs/logsql/): filters, then
 * pipes.
 *
 * @param nowNs reference time for durations of `_time`
 * @throws Status 400 with the position, and with the supported alternatives
 */
export function parseLogsql(text: string, nowNs: bigint, limits = createLimits()): Query {
  const context = contextOf(text, nowNs, limits)
  const { tokens } = context
  if (tokens.is('')) throw badRequest('query is required; * finds all lines')
  if (tokens.is('options') && tokens.next.raw === '(') throw tokens.error('options() is not supported')
  const filter = parseFilter(context)
  const pipes = parsePipes(context)
  tokens.take(';')
  if (!tokens.is('')) throw tokens.error(`expected the end, not ${tokens.shown}`)
  return { filter, pipes }
}

/** Parses a query that has only filters. @throws Status 400 */
export function parseLogsqlFilter(text: string, nowNs: bigint, limits = createLimits()): Filter {
  const context = contextOf(text, nowNs, limits)
  const filter = parseFilter(context)
  if (!context.tokens.is('')) throw context.tokens.error(`expected the end, not ${context.tokens.shown}`)
  return filter
}

function contextOf(text: string, nowNs: bigint, limits: Limits): FilterContext {
  return { tokens: new Tokens(text), limits, nowNs }
}
