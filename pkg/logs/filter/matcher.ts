import { type LogRecord, valuesOf } from '../record.ts'
import { compileRegex } from '../regex/compile.ts'
import type { Expression, Test } from './expression.ts'
import type { LogFilter, Scope } from './filter.ts'
import { wildcardSource } from './wildcard.ts'
import { fold, wordsOf } from './words.ts'
import { isPodOf } from './workload-pods.ts'

/** Returns a function that tests records: the meaning of filters for every store. */
export function createMatcher(filter: LogFilter): (record: LogRecord) => boolean {
  const inScope = createScopeTest(filter.scope)
  const passes = filter.expression === undefined ? () => true : createExpressionTest(filter.expression)
  const { startNs, endNs } = filter
  return record =>
    (startNs === undefined || record.timeNs >= startNs) &&
    (endNs === undefined || record.timeNs <= endNs) &&
    inScope(record) &&
    passes(record)
}

export function createScopeTest(scope: Scope): (record: LogRecord) => boolean {
  if (scope === 'everything') return () => true
  const since = new Map(scope.map(({ namespace, sinceNs }) => [namespace, sinceNs]))
  return record => {
    const from = since.get(record.namespace)
    return from !== undefined && record.timeNs >= from
  }
}

export function createExpressionTest(expression: Expression): (record: LogRecord) => boolean {
  if (expression.op === 'match') {
    const { field } = expression
    const test = createTest(expression.test)
    return record => valuesOf(record, field).some(test)
  }
  if (expression.op === 'not') {
    const inner = createExpressionTest(expression.operand)
    return record => !inner(record)
  }
  const operands = expression.operands.map(createExpressionTest)
  return expression.op === 'and'
    ? record => operands.every(test => test(record))
    : record => operands.some(test => test(record))
}

export function createTest(test: Test): (value: string) => boolean {
  switch (test.kind) {
    case 'in': {
      const values = new Set(test.values)
      return value => values.has(value)
    }
    case 'words':
      return createPhraseTest(test.words, test.prefix)
    case 'contains': {
      if (test.caseSensitive) return value => value.includes(test.text)
      const text = fold(test.text)
      return value => fold(value).includes(text)
    }
    case 'regex':
      return compileRegex(test.source, test.caseSensitive)
    case 'wildcard':
      return compileRegex(wildcardSource(test), false)
    case 'compare':
      return createComparison(test)
    case 'workload':
      return value => test.names.some(name => isPodOf(name, value))
  }
}

const isInteger = (text: string) => /^-?\d+$/.test(text)
const decimal = /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/

function createComparison({
  operator,
  number,
}: Extract<Test, { readonly kind: 'compare' }>): (value: string) => boolean {
  const passes = (order: number) =>
    operator === '<' ? order < 0 : operator === '<=' ? order <= 0 : operator === '>' ? order > 0 : order >= 0
  const compare = <T extends bigint | number>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0)
  return value => {
    if (value.length > 400 || !decimal.test(value)) return false
    // Integers are compared exactly, regardless of their size.
    return passes(
      isInteger(value) && isInteger(number)
        ? compare(BigInt(value), BigInt(number))
        : compare(Number(value), Number(number)),
    )
  }
}

function createPhraseTest(phrase: readonly string[], prefix: boolean): (value: string) => boolean {
  const folded = phrase.map(fold)
  const [first] = folded
  if (first === undefined) return () => true
  const last = folded.length - 1
  return value => {
    // Fast path: most values do not contain the first word, so they need not be split into words.
    if (!fold(value).includes(first)) return false
    const words = wordsOf(value)
    return words.some((_, start) =>
      folded.every((word, i) => {
        const candidate = words[start + i]
        return prefix && i === last ? candidate?.startsWith(word) === true : candidate === word
      }),
    )
  }
}
