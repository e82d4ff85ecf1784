import { compileRegex, RegexError } from '../../regex/compile.ts'
import type { Limits } from '../limits.ts'
import type { Tokens } from './tokenizer.ts'

export type FilterContext = { readonly tokens: Tokens; readonly limits: Limits; readonly nowNs: bigint }

export const messageField = '_msg'
const maxValues = 10_000

/** Checks the syntax and size of a regular expression, and returns it. @throws Status 400 */
export function checkRegexp({ tokens, limits }: FilterContext, source: string): string {
  try {
    compileRegex(source, true)
  } catch (error) {
    if (!(error instanceof RegexError)) throw error
    throw tokens.error(error.message)
  }
  if (!limits.regexes.spendOn(source)) throw tokens.error('the regular expressions are too large in total')
  return source
}

/** Parses the values of `in(a, b)`; undefined for `in(*)`. */
export function parseValues(tokens: Tokens, mayBeAll: boolean): readonly string[] | undefined {
  const name = tokens.advance().text
  tokens.expect('(')
  const values: string[] = []
  let isAll = false
  while (!tokens.take(')')) {
    if (mayBeAll && tokens.take('*')) isAll = true
    else values.push(tokens.text('a value'))
    if (values.length > maxValues) throw tokens.error(`${name}() has more than ${maxValues} values`)
    if (tokens.is(')')) continue
    if (!tokens.is(',')) {
      throw tokens.error(
        `expected , or ) in ${name}(), not ${tokens.shown}; queries within queries are not supported`,
      )
    }
    tokens.advance()
  }
  return isAll ? undefined : values
}

/** Parses a range `[a, b)`: both ends, with `read`, and whether they are included. */
export function parseEnds<T>(tokens: Tokens, read: () => T) {
  const isStartIncluded = tokens.take('[')
  if (!isStartIncluded) tokens.expect('(')
  const start = read()
  tokens.expect(',')
  const end = read()
  const isEndIncluded = tokens.take(']')
  if (!isEndIncluded) tokens.expect(')')
  return { start, end, isStartIncluded, isEndIncluded }
}
