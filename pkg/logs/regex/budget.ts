import { costOfRegex } from './compile.ts'

/**
 * Limits what the regular expressions of one search cost together, in instructions: each is
 * compiled, and then tried on line after line.
 */
export type RegexBudget = {
  /** @returns whether it was still within the limit */
  readonly spend: (cost: number) => boolean
  readonly spendOn: (source: string) => boolean
}

// More than people write.
const maxCost = 10_000
export const baseRegexCost = 20

export function createRegexBudget(): RegexBudget {
  let left = maxCost
  const spend = (cost: number) => {
    left -= cost
    return left >= 0
  }
  return { spend, spendOn: source => spend(baseRegexCost + costOfRegex(source)) }
}
