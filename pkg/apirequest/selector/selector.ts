import { badRequest } from '../../apierrors/status.ts'

/** Maximum number of terms of a selector, since each is evaluated for every object. */
const maxTerms = 32

/** @throws Status 400 */
export function requireFewTerms(count: number, parameter: string): void {
  if (count > maxTerms) throw badRequest(`${parameter} has ${count} terms; at most ${maxTerms} are allowed`)
}

/** A selector of a request: its text, and the parsed requirements. */
export type Selector<Requirement> = {
  /** The text of the parameter; '' selects everything. */
  readonly text: string
  /** Empty if `problem` contains a syntax error. */
  readonly requirements: readonly Requirement[]
  readonly problem?: unknown
}

export function readSelector<Requirement>(
  text: string,
  parse: (text: string) => readonly Requirement[],
): Selector<Requirement> {
  try {
    return { text, requirements: text === '' ? [] : parse(text) }
  } catch (problem) {
    return { text, requirements: [], problem }
  }
}

/** @throws Status 400 for a syntax error in the selector */
export function requirementsOf<Requirement>(selector: Selector<Requirement>): readonly Requirement[] {
  if (selector.problem !== undefined) throw selector.problem
  return selector.requirements
}
