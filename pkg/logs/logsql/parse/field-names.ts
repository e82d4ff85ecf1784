import { parseCount } from '../numbers.ts'
import type { Filter } from '../query.ts'
import { parseFilter } from './filter.ts'
import type { Tokens } from './tokenizer.ts'
import { type FilterContext, messageField } from './values.ts'

/** The name of a field; an empty one is the message. */
export function fieldOf(tokens: Tokens): string {
  return tokens.name() || messageField
}

/** A field, or the beginning of names with `*`. */
export function fieldOrPrefix(tokens: Tokens): string {
  if (tokens.take('*')) return '*'
  const field = fieldOf(tokens)
  return !tokens.current.isSpaced && tokens.take('*') ? `${field}*` : field
}

/** Names between parentheses, with commas. */
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
