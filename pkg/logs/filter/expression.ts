import type { Field } from '../record.ts'

/**
 * A condition on a record. Every store translates it, with values as parameters and never as query
 * text; `createMatcher` defines its meaning.
 */
export type Expression =
  | { readonly op: 'and' | 'or'; readonly operands: readonly Expression[] }
  | { readonly op: 'not'; readonly operand: Expression }
  | { readonly op: 'match'; readonly field: Field; readonly test: Test }

/** A condition on a field, which one of its values must match. */
export type Test =
  /** The whole value is one of these, case-sensitive. */
  | { readonly kind: 'in'; readonly values: readonly string[] }
  /**
   * These words are adjacent, with any separators, ignoring case. With `prefix` the last one may be
   * the beginning of a word (match_phrase_prefix of Elasticsearch). Words are defined by `wordsOf`;
   * without words everything matches.
   */
  | { readonly kind: 'words'; readonly words: readonly string[]; readonly prefix: boolean }
  /** Contains the text, anywhere. */
  | { readonly kind: 'contains'; readonly text: string; readonly caseSensitive: boolean }
  /** The regular expression matches somewhere; its syntax is that of `compileRegex`. */
  | { readonly kind: 'regex'; readonly source: string; readonly caseSensitive: boolean }
  /**
   * A text with wildcards, ignoring case: `*` for any number of characters, `?` for one. With
   * `value` it is the whole value; with `part` it may be anywhere, wildcards do not match spaces,
   * and an end marked `word` is a word boundary.
   */
  | {
      readonly kind: 'wildcard'
      readonly pieces: readonly ({ readonly text: string } | '*' | '?')[]
      readonly extent: 'value' | 'part'
      readonly start: 'open' | 'word'
      readonly end: 'open' | 'word'
    }
  /** A number less or greater than this one; other values do not match. */
  | { readonly kind: 'compare'; readonly operator: '<' | '<=' | '>' | '>='; readonly number: string }
  /**
   * A pod name (the field is `pod`) that a workload of one of these names generates, or the name
   * itself.
   */
  | { readonly kind: 'workload'; readonly names: readonly string[] }

export function match(field: Field, test: Test): Expression {
  return { op: 'match', field, test }
}

export function isOneOf(field: Field, values: readonly string[]): Expression {
  return match(field, { kind: 'in', values })
}

/** Returns the conjunction; undefined if there are none. */
export function allOf(operands: readonly Expression[]): Expression | undefined {
  return operands.length > 1 ? { op: 'and', operands } : operands[0]
}

/** Returns the disjunction; without any, nothing matches. */
export function anyOf(operands: readonly Expression[]): Expression {
  const [first] = operands
  return operands.length === 1 && first !== undefined ? first : { op: 'or', operands }
}
