import { costOfRegex } from './compile.ts'

/** Limits the cost of a search's expressions: compiled once, evaluated for each line. */
export type RegexBudget = {
  /** Adds a cost. @returns whether the total is within the limit */
  readonly spend: (cost: number) => boolean
  readonly spendOn: (source: string) => boolean
}

// Maximum total cost: far more than users need.
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
