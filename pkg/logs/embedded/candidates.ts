import type { Expression } from '../expression.ts'
import type { Scope } from '../filter.ts'
import { createTest } from '../matcher.ts'
import { fieldOf } from '../record.ts'
import { requiredTexts } from '../regex/required.ts'
import { parseRegex } from '../regex/syntax.ts'
import { and, andNot, type Bitmap, emptyBitmap, isEmpty, or, setBit } from './bitmap.ts'
import { all, type Candidates, exactly, join, none, unsure } from './candidate-sets.ts'
import { dayOf, timeInDay } from './lines.ts'
import type { Segment } from './segment.ts'
import { findText } from './text-candidates.ts'

/** What the indexes of a segment say of an expression: only the difference of the two needs to be looked at. */
export function findCandidates(segment: Segment, expression: Expression): Candidates {
  if (expression.op === 'match') {
    if (expression.field !== 'log') return findStreams(segment, expression)
    const { test } = expression
    return test.kind === 'regex' ? findRegex(segment, test.source) : findText(segment, test)
  }
  if (expression.op === 'not') {
    const { must, may } = findCandidates(segment, expression.operand)
    const every = all(segment)
    return must === may ? exactly(andNot(every, may)) : { must: andNot(every, may), may: andNot(every, must) }
  }
  if (expression.op === 'or') {
    return expression.operands.reduce<Candidates>(
      (found, operand) => join(or, found, findCandidates(segment, operand)),
      none(segment),
    )
  }
  let found: Candidates | undefined
  for (const operand of cheapestFirst(expression.operands)) {
    const next = findCandidates(segment, operand)
    found = found === undefined ? next : join(and, found, next)
    if (isEmpty(found.may)) return none(segment)
  }
  return found ?? exactly(all(segment))
}

/** Where what it cannot do without may be. */
function findRegex(segment: Segment, source: string): Candidates {
  const required = requiredTexts(parseRegex(source))
  return unsure(segment, required === undefined ? all(segment) : findCandidates(segment, required).may)
}

/** The documents in a scope; undefined when it is all of them. */
export function findScope(segment: Segment, scope: Scope): Bitmap | undefined {
  if (scope === 'everything') return undefined
  const { footer } = segment
  const permitted = new Map(scope.map(({ namespace, sinceNs }) => [namespace, sinceNs]))
  const bits = emptyBitmap(footer.count)
  footer.streams.forEach(({ namespace }, stream) => {
    const sinceNs = permitted.get(namespace)
    if (sinceNs !== undefined && dayOf(sinceNs) <= footer.day) {
      addStream(segment, stream, bits, dayOf(sinceNs) === footer.day ? timeInDay(sinceNs) : 0)
    }
  })
  return bits
}

function findStreams(segment: Segment, { field, test }: Extract<Expression, { op: 'match' }>): Candidates {
  const bits = emptyBitmap(segment.footer.count)
  const passes = createTest(test)
  segment.footer.streams.forEach((stream, index) => {
    const value = fieldOf({ timeNs: 0n, log: '', ...stream }, field)
    if (value !== undefined && passes(value)) addStream(segment, index, bits, 0)
  })
  return exactly(bits)
}

function addStream(segment: Segment, stream: number, bits: Bitmap, sinceTime: number): void {
  const { streamStarts, footer } = segment
  if (sinceTime > footer.lastTime) return
  const documents = segment.documents()
  const from = sinceTime > footer.firstTime ? segment.lowerBound(sinceTime) : 0
  for (let place = streamStarts[stream] ?? 0, end = streamStarts[stream + 1] ?? 0; place < end; place += 1) {
    const document = documents[place] ?? 0
    if (document >= from) setBit(bits, document)
  }
}

/** What selects streams costs little and often leaves nothing. */
function cheapestFirst(operands: readonly Expression[]): readonly Expression[] {
  const cost = (expression: Expression): number => {
    if (expression.op !== 'match') return 2
    if (expression.field !== 'log') return 0
    return expression.test.kind === 'words' ? 1 : 3
  }
  return operands.toSorted((a, b) => cost(a) - cost(b))
}
