import type { Expression, Test } from '../../filter/expression.ts'
import { createTest } from '../../filter/matcher.ts'
import { wildcardNode } from '../../filter/wildcard.ts'
import { fold, wordRole, wordsOf } from '../../filter/words.ts'
import { isOriginField, type OriginField, originOf } from '../../record.ts'
import { parseRegex } from '../../regex/parse.ts'
import { requiredTexts } from '../../regex/required-literals.ts'
import { fieldWord, streamWord } from '../partition/index-text.ts'
import type { Stream } from '../partition/stream.ts'

/**
 * How the full-text index evaluates an expression. `query` finds a superset of the matching lines;
 * those that also match `rest` are the result. Without `query` all lines are candidates; without
 * `rest` all candidates match.
 */
export type IndexPlan = { readonly query?: string; readonly rest?: Expression }

/** Query of a plan that no line can match. */
export const nothing = ''

// Maximum number of alternatives in a query. FTS5 checks all of them for each found line; with
// more, scanning the stream column is faster.
const maxAlternatives = 32
// The index cuts off longer words.
const longestWord = 1000

/** Plans the evaluation of an expression. @param streams streams of the partition */
export function planIndex(expression: Expression, streams: readonly Stream[]): IndexPlan {
  switch (expression.op) {
    case 'match':
      return planMatch(expression, streams)
    case 'not': {
      const { query, rest } = planIndex(expression.operand, streams)
      if (query === nothing) return {}
      return query === undefined && rest === undefined ? { query: nothing } : { rest: expression }
    }
    case 'and':
      return planAll(expression.operands.map(operand => planIndex(operand, streams)))
    case 'or':
      return planAny(
        expression,
        expression.operands.map(operand => planIndex(operand, streams)),
      )
  }
}

function planAll(plans: readonly IndexPlan[]): IndexPlan {
  const queries = plans.flatMap(({ query }) => (query === undefined ? [] : [query]))
  if (queries.includes(nothing)) return { query: nothing }
  const rests = plans.flatMap(({ rest }) => (rest === undefined ? [] : [rest]))
  const [rest] = rests
  return {
    ...(queries.length === 0 ? {} : { query: join(queries, ' AND ') }),
    ...(rest === undefined ? {} : { rest: rests.length === 1 ? rest : { op: 'and', operands: rests } }),
  }
}

function planAny(expression: Expression, plans: readonly IndexPlan[]): IndexPlan {
  const possible = plans.filter(({ query }) => query !== nothing)
  const queries = possible.flatMap(({ query }) => (query === undefined ? [] : [query]))
  if (possible.some(({ query, rest }) => query === undefined && rest === undefined)) return {}
  if (queries.length < possible.length || queries.length > maxAlternatives) return { rest: expression }
  const rest = possible.some(plan => plan.rest !== undefined) ? { rest: expression } : {}
  return { query: queries.length === 0 ? nothing : join(queries, ' OR '), ...rest }
}

function join(queries: readonly string[], by: string): string {
  return queries.length === 1 ? (queries[0] ?? '') : `(${queries.join(by)})`
}

function planMatch(
  expression: Extract<Expression, { readonly op: 'match' }>,
  streams: readonly Stream[],
): IndexPlan {
  const { field, test } = expression
  if (field !== 'log') {
    if (isOriginField(field)) return planStreams(expression, streamsPassing(streams, field, test))
    return planField(expression, field.field, test)
  }
  switch (test.kind) {
    case 'words':
      return planWords(expression, test)
    case 'contains': {
      const query = wordsWithin(test.text)
      return query === undefined ? { rest: expression } : { query, rest: expression }
    }
    case 'regex':
    case 'wildcard': {
      const required = requiredBy(test)
      const query = required && planIndex(required, streams).query
      return query === undefined ? { rest: expression } : { query, rest: expression }
    }
    default:
      return { rest: expression }
  }
}

/** Returns an expression for text that every matching line contains; undefined if there is none. */
export function requiredBy(test: Extract<Test, { kind: 'regex' | 'wildcard' }>): Expression | undefined {
  if (test.kind === 'wildcard') return requiredTexts(wildcardNode(test), false)
  const node = parseRegex(test.source)
  return node && requiredTexts(node, test.caseSensitive)
}

/** Returns for each stream whether its lines match. */
export function streamsPassing(
  streams: readonly Stream[],
  field: OriginField,
  test: Test,
): readonly boolean[] {
  const passes = createTest(test)
  return streams.map(stream => {
    const value = originOf(stream, field)
    return value !== undefined && passes(value)
  })
}

function planStreams(expression: Expression, passing: readonly boolean[]): IndexPlan {
  const ids = passing.flatMap((passes, id) => (passes ? [id] : []))
  if (ids.length === 0) return { query: nothing }
  if (ids.length === passing.length) return {}
  if (ids.length > maxAlternatives) return { rest: expression }
  return {
    query: join(
      ids.map(id => quote(streamWord(id))),
      ' OR ',
    ),
  }
}

/** The index folds and cuts field values, so found lines must still be checked. */
function planField(expression: Expression, name: string, test: Test): IndexPlan {
  if (test.kind === 'wildcard' && test.extent === 'value') {
    const [piece, ...more] = test.pieces
    if (typeof piece === 'object' && more.length === 0)
      return { query: quote(fieldWord(name, piece.text)), rest: expression }
  }
  if (test.kind !== 'in' || test.values.length > maxAlternatives) return { rest: expression }
  if (test.values.length === 0) return { query: nothing }
  const words = test.values.map(value => quote(fieldWord(name, value)))
  return { query: join(words, ' OR '), rest: expression }
}

function planWords(expression: Expression, test: Extract<Test, { readonly kind: 'words' }>): IndexPlan {
  const words = test.words.map(fold)
  if (words.length === 0) return {}
  const areWords = words.every(word => word.length <= longestWord && wordsOf(word)[0] === word)
  if (!areWords) return { rest: expression }
  return { query: quote(words.join(' ')) + (test.prefix ? '*' : '') }
}

/**
 * Returns a query for the words of lines that contain the text. Omits a first word that may be the
 * end of a longer one; a last word that may continue becomes a prefix.
 */
function wordsWithin(term: string): string | undefined {
  const text = fold(term)
  const isOpen = (codePoint: number | undefined) => wordRole(codePoint ?? 0) === 'part'
  const isStartOpen = isOpen(text.codePointAt(0))
  const isEndOpen = isOpen([...text].at(-1)?.codePointAt(0))
  const words = wordsOf(text)
  const terms = words.flatMap((word, i) => {
    if (word.length > longestWord || (i === 0 && isStartOpen)) return []
    return [quote(word) + (i === words.length - 1 && isEndOpen ? '*' : '')]
  })
  return terms.length === 0 ? undefined : join(terms, ' AND ')
}

/** Returns an FTS5 string. Words contain no quotation marks to escape. */
function quote(words: string): string {
  return `"${words}"`
}
