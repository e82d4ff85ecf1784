import { badRequest } from '../../apierrors/status.ts'

/** Maximum number of terms of a selector, since each is looked up in every object. */
const maxTerms = 32

/** @throws Status 400 */
export function requireFewTerms(count: number, parameter: string): void {
  if (count > maxTerms) throw badRequest(`${parameter} has ${count} terms; at most ${maxTerms} are allowed`)
}

/** A selector of a request: its text, and the parsed requirements. */
export type Selector<Requirement> = {
  /** '' selects everything. */
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

/** @throws Status 400 when the selector cannot be read */
export function requirementsOf<Requirement>(selector: Selector<Requirement>): readonly Requirement[] {
  if (selector.problem !== undefined) throw selector.problem
  return selector.requirements
}
