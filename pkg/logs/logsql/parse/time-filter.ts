import { maxTimeNs } from '../../record.ts'
import { parseDuration } from '../numbers.ts'
import type { Filter } from '../query.ts'
import { parseMoment, type Span } from '../timestamp.ts'
import type { Tokens } from './tokenizer.ts'
import { parseEnds } from './values.ts'

export const beginningOfTime = -(2n ** 63n)
export const endOfTime = maxTimeNs
const nsPerDay = 86_400e9

/** Parses the value of `_time:`. @throws Status 400 */
export function parseTimeFilter(tokens: Tokens, nowNs: bigint): Filter {
  if (tokens.is('day_range')) return parseDayRange(tokens)
  if (tokens.is('week_range')) return parseWeekRange(tokens)
  const span = tokens.is('offset') ? { startNs: beginningOfTime, endNs: nowNs } : parseSpan(tokens, nowNs)
  const offset = BigInt(parseOffset(tokens))
  const { startNs, endNs } = span
  return {
    op: 'time',
    startNs: startNs === beginningOfTime ? startNs : startNs - offset,
    endNs: endNs === endOfTime ? endNs : endNs - offset,
  }
}

/** Parses an optional offset to nanoseconds; 0 if it is missing. */
function parseOffset(tokens: Tokens): number {
  return tokens.take('offset') ? readDuration(tokens) : 0
}

function readDuration(tokens: Tokens): number {
  const { current } = tokens
  const text = tokens.text('a duration')
  const duration = parseDuration(text)
  if (duration === undefined)
    throw tokens.error(
      `invalid duration ${JSON.stringify(current.raw)} before this: expected a duration such as 1h30m`,
    )
  return duration
}

function parseSpan(tokens: Tokens, nowNs: bigint): Span {
  if (tokens.is('[', '(')) return parseRange(tokens, nowNs)
  const isAfter = tokens.take('>')
  const isBefore = !isAfter && tokens.take('<')
  const isIncluded = tokens.take('=')
  if (!isMoment(tokens)) {
    const distance = BigInt(Math.abs(readDuration(tokens)))
    if (isAfter) return { startNs: beginningOfTime, endNs: nowNs - distance - (isIncluded ? 0n : 1n) }
    return { startNs: nowNs - distance + (isBefore && !isIncluded ? 1n : 0n), endNs: nowNs - 1n }
  }
  const moment = readMoment(tokens, nowNs)
  if (isAfter) return { startNs: moment.startNs + (isIncluded ? 0n : 1n), endNs: endOfTime }
  if (isBefore) return { startNs: beginningOfTime, endNs: isIncluded ? moment.endNs : moment.startNs - 1n }
  return moment
}

/** Reports whether the current token is a time or `now`, not a duration. */
function isMoment(tokens: Tokens): boolean {
  const { current, next } = tokens
  if (current.isQuoted) return parseDuration(current.text) === undefined
  if (current.text.toLowerCase() === 'now') return true
  if (/^\d{4}(?:Z.*)?$/i.test(current.text)) return true
  return /^\d+$/.test(current.text) && (next.isSpaced || !next.isQuoted) && current.text.length >= 9
}

function readMoment(tokens: Tokens, nowNs: bigint): Span {
  const { current } = tokens
  const text = tokens.text('a time')
  const moment = parseMoment(text, nowNs)
  if (moment === undefined)
    throw tokens.error(`invalid time ${JSON.stringify(text)} from character ${current.position} on`)
  return moment
}

function parseRange(tokens: Tokens, nowNs: bigint): Span {
  const { start, end, isStartIncluded, isEndIncluded } = parseEnds(tokens, () => readMoment(tokens, nowNs))
  return {
    startNs: start.startNs + (isStartIncluded ? 0n : 1n),
    endNs: isEndIncluded ? end.endNs : end.startNs - 1n,
  }
}

function parseDayRange(tokens: Tokens): Filter {
  tokens.advance()
  const { start, end, isStartIncluded, isEndIncluded } = parseEnds(tokens, () => {
    const text = tokens.text('a time of day')
    const [, hour, minute] = /^(\d{2}):?(\d{2})$/.exec(text) ?? []
    if (hour === undefined || Number(hour) > 24 || Number(minute) > 60)
      throw tokens.error(`invalid time of day ${JSON.stringify(text)} before this: expected hh:mm`)
    return Math.min((Number(hour) * 60 + Number(minute)) * 60e9, nsPerDay - 1)
  })
  const offsetNs = parseOffset(tokens)
  const last = isEndIncluded ? end : end - 1
  return {
    op: 'dayRange',
    start: isStartIncluded ? start : start + 1,
    end: last < 0 ? nsPerDay - 1 : last,
    offsetNs,
  }
}

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const wholeDays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

function parseWeekRange(tokens: Tokens): Filter {
  tokens.advance()
  const { start, end, isStartIncluded, isEndIncluded } = parseEnds(tokens, () => {
    const text = tokens.text('a day of the week').toLowerCase()
    const day = Math.max(days.indexOf(text), wholeDays.indexOf(text))
    if (day < 0)
      throw tokens.error(`invalid day ${JSON.stringify(text)} before this: expected ${days.join(', ')}`)
    return day
  })
  const offsetNs = parseOffset(tokens)
  return {
    op: 'weekRange',
    start: (isStartIncluded ? start : start + 1) % 7,
    end: (isEndIncluded ? end : end + 6) % 7,
    offsetNs,
  }
}
