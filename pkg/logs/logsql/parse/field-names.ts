import { parseCount } from '../numbers.ts'
import type { Filter } from '../query.ts'
import { parseFilter } from './filter.ts'
import type { Tokens } from './tokenizer.ts'
import { type FilterContext, messageField } from './values.ts'

/** Parses the name of a field. The empty name is the message field. */
export function fieldOf(tokens: Tokens): string {
  return tokens.name() || messageField
}

/** Parses the name of a field, or a prefix of names followed by `*`. */
export function fieldOrPrefix(tokens: Tokens): string {
  if (tokens.take('*')) return '*'
  const field = fieldOf(tokens)
  return !tokens.current.isSpaced && tokens.take('*') ? `${field}*` : field
}

/** Parses names in parentheses, separated by commas. */
export function namesInParentheses(tokens: Tokens, read: (tokens: Tokens) => string): readonly string[] {
  tokens.expect('(')
  const names: string[] = []
  while (!tokens.take(')')) {
    names.push(read(tokens))
    if (!tokens.is(')')) tokens.expect(',')
  }
  return names
}

export function listOf(tokens: Tokens, read: (tokens: Tokens) => string): readonly string[] {
  const names = [read(tokens)]
  while (tokens.take(',')) names.push(read(tokens))
  return names
}

/** Returns a name that is not taken, by appending `s` as often as necessary. */
export function uniqueName(name: string, taken: readonly string[]): string {
  return taken.includes(name) ? uniqueName(`${name}s`, taken) : name
}

export function countOf(tokens: Tokens): number {
  const { current } = tokens
  const text = tokens.text('a number')
  const count = parseCount(text)
  if (count === undefined) throw tokens.error(`invalid number ${JSON.stringify(current.raw)} before this`)
  return count
}

export function conditionOf(context: FilterContext): { readonly condition?: Filter } {
  const { tokens } = context
  if (!tokens.take('if')) return {}
  tokens.expect('(')
  if (tokens.take(')')) return {}
  const condition = parseFilter(context)
  tokens.expect(')')
  return { condition }
}
