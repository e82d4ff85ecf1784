import { createRegexBudget, type RegexBudget } from '../regex/budget.ts'
import type { Tokens } from './parse/tokenizer.ts'

const maxDepth = 100
// Each term is searched in each line, which may have 256 KiB, and blocks the process meanwhile.
const maxTerms = 500

/** Limits for everything in a query that can be nested or repeated, including the extra filters. */
export type Limits = {
  /** Parses one level deeper. @throws Status 400 */
  readonly nested: <T>(tokens: Tokens, parse: () => T) => T
  /** @throws Status 400 */
  readonly countTerm: (tokens: Tokens) => void
  readonly regexes: RegexBudget
}

export function createLimits(): Limits {
  let depth = 0
  let terms = 0
  return {
    nested: (tokens, parse) => {
      depth += 1
      if (depth > maxDepth) throw tokens.error(`it is nested deeper than ${maxDepth} levels`)
      const result = parse()
      depth -= 1
      return result
    },
    countTerm: tokens => {
      terms += 1
      if (terms > maxTerms) throw tokens.error(`it has more than ${maxTerms} terms`)
    },
    regexes: createRegexBudget(),
  }
}
