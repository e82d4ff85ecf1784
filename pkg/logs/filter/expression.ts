import type { Field } from '../record.ts'

/**
 * A condition on a record. `createMatcher` defines its meaning; every store translates it, with
 * values as parameters and never as query text.
 */
export type Expression =
  | { readonly op: 'and' | 'or'; readonly operands: readonly Expression[] }
  | { readonly op: 'not'; readonly operand: Expression }
  | { readonly op: 'match'; readonly field: Field; readonly test: Test }

/** A condition on a field. One of the values of the field must satisfy it. */
export type Test =
  /** The whole value is one of these, case-sensitive. */
  | { readonly kind: 'in'; readonly values: readonly string[] }
  /**
   * The value contains these words in sequence, with any separators, ignoring case. With `prefix`
   * the last one may be the beginning of a word (match_phrase_prefix of Elasticsearch). Words are
   * defined by `wordsOf`. Without words every value matches.
   */
  | { readonly kind: 'words'; readonly words: readonly string[]; readonly prefix: boolean }
  | { readonly kind: 'contains'; readonly text: string; readonly caseSensitive: boolean }
  /** The regular expression matches a part of the value. `compileRegex` defines its syntax. */
  | { readonly kind: 'regex'; readonly source: string; readonly caseSensitive: boolean }
  /**
   * A pattern, ignoring case: `*` for any number of characters, `?` for one. With extent `value` it
   * matches the whole value. With `part` it may match anywhere, wildcards do not match spaces, and
   * an end marked `word` must be a word boundary.
   */
  | {
      readonly kind: 'wildcard'
      readonly pieces: readonly ({ readonly text: string } | '*' | '?')[]
      readonly extent: 'value' | 'part'
      readonly start: 'open' | 'word'
      readonly end: 'open' | 'word'
    }
  /** The value is a number in this relation to `number`. */
  | { readonly kind: 'compare'; readonly operator: '<' | '<=' | '>' | '>='; readonly number: string }
  /** The value is a pod name that a workload of these names generates, or the name. */
  | { readonly kind: 'workload'; readonly names: readonly string[] }

export function match(field: Field, test: Test): Expression {
  return { op: 'match', field, test }
}

export function isOneOf(field: Field, values: readonly string[]): Expression {
  return match(field, { kind: 'in', values })
}

/** Returns the conjunction of those that are defined; undefined without any. */
export function allOf(operands: readonly [Expression, ...Expression[]]): Expression
export function allOf(operands: readonly (Expression | undefined)[]): Expression | undefined
export function allOf(given: readonly (Expression | undefined)[]): Expression | undefined {
  const operands = given.filter(operand => operand !== undefined)
  return operands.length > 1 ? { op: 'and', operands } : operands[0]
}

/** Returns the disjunction. Without operands it matches nothing. */
export function anyOf(operands: readonly Expression[]): Expression {
  const [first] = operands
  return operands.length === 1 && first !== undefined ? first : { op: 'or', operands }
}
