import { createRegexBudget, type RegexBudget } from '../regex/budget.ts'
import type { Tokens } from './parse/tokenizer.ts'

const maxDepth = 100
// Each term is searched in each line of up to 256 KiB, which blocks the process.
const maxTerms = 500

/** Limits for nested and repeated parts of a query, including the extra filters. */
export type Limits = {
  /** Calls `parse` one nesting level deeper. @throws Status 400 beyond the limit */
  readonly nested: <T>(tokens: Tokens, parse: () => T) => T
  /** Counts a term. @throws Status 400 beyond the limit */
  readonly countTerm: (tokens: Tokens) => void
  readonly regexes: RegexBudget
}

export function createLimits(): Limits {
  let depth = 0
  let terms = 0
  return {
    nested: (tokens, parse) => {
      depth += 1
      if (depth > maxDepth) throw tokens.error(`the query is nested deeper than ${maxDepth} levels`)
      const result = parse()
      depth -= 1
      return result
    },
    countTerm: tokens => {
      terms += 1
      if (terms > maxTerms) throw tokens.error(`the query has more than ${maxTerms} terms`)
    },
    regexes: createRegexBudget(),
  }
}
