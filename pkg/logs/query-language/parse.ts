import { allOf, anyOf, type Expression, match } from '../filter/expression.ts'
import { wordsOf } from '../filter/words.ts'
import { createRegexBudget } from '../regex/budget.ts'
import { toExpression } from './term-test.ts'
import { readTerms, syntaxError, type Token } from './terms.ts'

const maxLength = 4096
const maxDepth = 50

/**
 * Parses the parameter q. NOT binds tightest, then AND, then OR; parentheses group. Adjacent terms
 * are combined as with AND.
 *
 *     error timeout            both words, in any order          "connection refused"   these words in sequence
 *     (a OR b) NOT c           either, and not c                 err*                   a word with this prefix
 *     *efus*                   a substring                       case:Error             a substring, case-sensitive
 *     /code=5\d\d/             a regular expression              /Error/c               the same, case-sensitive
 *     namespace:shop pod:web-* fields                            labels.app:web         a label of the pod
 *
 * @returns undefined for an empty text, which has no condition
 * @throws Status 400 with the position, counted from 1
 */
export function parseQuery(text: string): Expression | undefined {
  if (text.length > maxLength) syntaxError(`longer than ${maxLength} characters`, maxLength + 1)
  const tokens = readTerms(text)
  const budget = createRegexBudget()
  if (tokens.length === 0) return undefined
  let at = 0
  let depth = 0

  function parseOr(): Expression {
    const operands = [parseAnd()]
    while (tokens[at]?.kind === 'OR') {
      at += 1
      operands.push(parseAnd())
    }
    return anyOf(operands)
  }

  function parseAnd(): Expression {
    const operands: [Expression, ...Expression[]] = [parseNot()]
    for (let next = tokens[at]; next !== undefined; next = tokens[at]) {
      if (next.kind === 'OR' || next.kind === ')') break
      if (next.kind === 'AND') at += 1
      operands.push(parseNot())
    }
    return allOf(operands)
  }

  function parseNot(): Expression {
    if (++depth > maxDepth) syntaxError(`nested more than ${maxDepth} deep`, position(tokens[at]))
    const result = parseOperand()
    depth -= 1
    return result
  }

  function parseOperand(): Expression {
    const next = tokens[at]
    if (next === undefined) return syntaxError('missing search term at the end', text.length + 1)
    at += 1
    if (next.kind === 'term') return toExpression(next, budget)
    if (next.kind === 'NOT') return { op: 'not', operand: parseNot() }
    if (next.kind !== '(') {
      return syntaxError(`missing search term before ${next.kind}`, next.position)
    }
    const inner = parseOr()
    if (tokens[at]?.kind !== ')') syntaxError('missing closing parenthesis', next.position)
    at += 1
    return inner
  }

  const expression = parseOr()
  const rest = tokens[at]
  if (rest !== undefined) syntaxError('unmatched )', rest.position)
  return expression

  function position(token: Token | undefined): number {
    return token?.position ?? text.length + 1
  }
}

/**
 * Parses the parameter log_query of the platform API: comma-separated phrases, one of which must
 * match. The last word of a phrase may be the prefix of a word. Empty phrases are ignored.
 */
export function parsePhrases(text: string): Expression | undefined {
  const phrases = text.split(',').filter(phrase => phrase.trim() !== '')
  if (phrases.length === 0) return undefined
  return anyOf(
    phrases.map(phrase => {
      const words = wordsOf(phrase)
      if (words.length > 0) return match('log', { kind: 'words', words, prefix: true })
      return match('log', { kind: 'contains', text: phrase.trim(), caseSensitive: false })
    }),
  )
}
