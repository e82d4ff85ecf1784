import type { Expression } from '../expression.ts'
import { fold } from '../words.ts'
import type { Dictionary } from './dictionary.ts'
import type { Segment } from './segment.ts'

/**
 * Whether no line of a segment passes, as far as words tell that it does not have, without a look into its file: before anything
 * is read for what else was asked.
 */
export function isSurelyNone({ dictionary }: Pick<Segment, 'dictionary'>, expression: Expression): boolean {
  return dictionary !== undefined && lacks(dictionary, expression)
}

function lacks(dictionary: Dictionary, expression: Expression): boolean {
  switch (expression.op) {
    case 'not':
      return false
    case 'and':
      return expression.operands.some(operand => lacks(dictionary, operand))
    case 'or':
      return expression.operands.every(operand => lacks(dictionary, operand))
    case 'match': {
      const { field, test } = expression
      if (field !== 'log' || test.kind !== 'words') return false
      const whole = test.prefix ? test.words.slice(0, -1) : test.words
      return whole.some(word => !dictionary.mayHave(fold(word)))
    }
  }
}
