import { type Expression, match, type Test } from '../filter/expression.ts'
import { type WildcardTest, wildcardSource } from '../filter/wildcard.ts'
import { wordRole, wordsOf } from '../filter/words.ts'
import type { Field } from '../record.ts'
import { baseRegexCost, type RegexBudget } from '../regex/budget.ts'
import { compileRegex, RegexError } from '../regex/compile.ts'
import { syntaxError, type Term } from './terms.ts'

type Pieces = WildcardTest['pieces']

const fields: Readonly<Record<string, Field>> = {
  log: 'log',
  namespace: 'namespace',
  pod: 'pod',
  container: 'container',
  host: 'host',
  docker_id: 'dockerId',
}

// Cost of a word boundary, which is a regular expression with Unicode classes.
const wordEndCost = 250

/** Converts a term of q to a condition. */
export function toExpression(term: Term, budget: RegexBudget): Expression {
  const { field: name, position } = term
  if (name === 'case') return match('log', { kind: 'contains', text: literal(term), caseSensitive: true })
  if (name === 'workload') return match('pod', { kind: 'workload', names: [literal(term)] })
  const field = name === undefined ? 'log' : toField(name)
  const { value } = term
  if ('regex' in value) return match(field, regexTest(value, budget))
  if ('operator' in value) return match(field, { kind: 'compare', ...value })
  const test = field === 'log' ? logTest(value.pieces) : fieldTest(field, value.pieces)
  if (test.kind === 'wildcard') {
    checkRegex(wildcardSource(test), false, position)
    if (!budget.spend(costOfWildcard(test))) rejectSize(position)
  }
  return match(field, test)
}

// Names that denote something else than a field of the line, also after `fields.`.
const reserved =
  /^(?:fields\.)*(?:log|namespace|pod|container|host|docker_id|case|workload|time|labels\..*)$/s

/**
 * Returns the field with a name. Unknown names denote fields of the line, whose names after `fields.`
 * may also be reserved ones.
 */
function toField(name: string): Field {
  const own = name.startsWith('fields.') ? name.slice('fields.'.length) : undefined
  if (own !== undefined && reserved.test(own)) return { field: own }
  if (name.startsWith('labels.')) return { label: name.slice('labels.'.length) }
  return (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? { field: name }
}

function literal({ field, value, position }: Term): string {
  const text = 'pieces' in value ? plainText(value.pieces) : undefined
  return text || syntaxError(`${field}: expected a non-empty text without wildcards`, position)
}

function regexTest(value: Extract<Term['value'], { regex: string }>, budget: RegexBudget): Test {
  // A slash in the expression is written \/, which also denotes a slash in the syntax of RE2.
  const { regex: source, caseSensitive, position } = value
  checkRegex(source, caseSensitive, position)
  if (!budget.spendOn(source)) rejectSize(position)
  return { kind: 'regex', source, caseSensitive }
}

function rejectSize(position: number): never {
  return syntaxError('the regular expressions and wildcards are too large in total', position)
}

function costOfWildcard({ pieces, start, end }: WildcardTest): number {
  const ends = [start, end].filter(place => place === 'word').length
  const length = pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? 3 : piece.text.length), 0)
  return baseRegexCost + ends * wordEndCost + length
}

function checkRegex(source: string, caseSensitive: boolean, position: number): void {
  try {
    compileRegex(source, caseSensitive)
  } catch (error) {
    if (error instanceof RegexError) syntaxError(error.message, position)
    throw error
  }
}

/**
 * Returns the test of a field. The origin must equal the text, case-sensitive; with wildcards, and
 * for other fields, the case is ignored.
 */
function fieldTest(field: Field, pieces: Pieces): Test {
  const text = plainText(pieces)
  const isOwn = typeof field !== 'string' && 'field' in field
  if (text !== undefined && !isOwn) return { kind: 'in', values: [text] }
  return { kind: 'wildcard', pieces, extent: 'value', start: 'open', end: 'open' }
}

/** Returns the test of the line: words, or wildcards, which do not match spaces. */
function logTest(pieces: Pieces): Test {
  const text = plainText(pieces)
  if (text !== undefined) return textTest(text, false)
  const [first, last] = [pieces[0], pieces.at(-1)]
  const inner = plainText(pieces.slice(first === '*' ? 1 : 0, last === '*' ? -1 : undefined))
  if (first === '*' && inner !== undefined) {
    if (last === '*' || pieces.length === 1) return { kind: 'contains', text: inner, caseSensitive: false }
  } else if (last === '*' && inner !== undefined && isOneWord(inner)) return textTest(inner, true)
  const start = first !== '*' && beginsWord(first) ? 'word' : 'open'
  const end = last !== '*' && endsWord(last) ? 'word' : 'open'
  return { kind: 'wildcard', pieces, extent: 'part', start, end }
}

/** Returns the test for words, or for a literal text without words, such as `=>`. */
export function textTest(text: string, prefix: boolean): Test {
  const words = wordsOf(text)
  if (words.length === 0) return { kind: 'contains', text, caseSensitive: false }
  return { kind: 'words', words, prefix }
}

/** Returns the text of pieces without wildcards; undefined if there are wildcards. */
function plainText([first, ...others]: Pieces): string | undefined {
  if (first === undefined) return ''
  return typeof first === 'object' && others.length === 0 ? first.text : undefined
}

function isOneWord(text: string): boolean {
  const words = wordsOf(text)
  return words.length === 1 && words[0]?.length === text.length
}

/** Reports whether the pattern begins at a word boundary. `?` at the edge is in a word. */
function beginsWord(piece: Pieces[number] | undefined): boolean {
  if (piece === undefined || typeof piece === 'string') return piece === '?'
  return wordRole(piece.text.codePointAt(0) ?? 0) === 'part'
}

function endsWord(piece: Pieces[number] | undefined): boolean {
  if (piece === undefined || typeof piece === 'string') return piece === '?'
  return wordRole([...piece.text].at(-1)?.codePointAt(0) ?? 0) === 'part'
}
