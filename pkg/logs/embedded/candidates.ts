import type { Expression, Test } from '../expression.ts'
import type { Scope } from '../filter.ts'
import { createTest } from '../matcher.ts'
import { type Field, originOf } from '../record.ts'
import { requiredTexts } from '../regex/required.ts'
import { parseRegex } from '../regex/syntax.ts'
import { and, andNot, type Bitmap, isEmpty, or, setBit } from './bitmap.ts'
import { all, type Candidates, exactly, join, none, unsure } from './candidate-sets.ts'
import { dayOf, timeInDay } from './lines.ts'
import type { Segment } from './segment.ts'
import { findText } from './text-candidates.ts'

/** What the indexes of a segment say of an expression: only the difference of the two needs to be looked at. */
export function findCandidates(segment: Segment, expression: Expression): Candidates {
  if (expression.op === 'match') {
    const { field, test } = expression
    if (field !== 'log') return findStreams(segment, field, test)
    return test.kind === 'regex' ? findRegex(segment, test.source) : findText(segment, test)
  }
  if (expression.op === 'not') {
    const { must, may } = findCandidates(segment, expression.operand)
    const every = all(segment)
    return must === may ? exactly(andNot(every, may)) : { must: andNot(every, may), may: andNot(every, must) }
  }
  if (expression.op === 'or') {
    return expression.operands.reduce<Candidates>((found, operand) => {
      const next = findCandidates(segment, operand)
      if (isEmpty(found.may)) return next
      return isEmpty(next.may) ? found : join(or, found, next)
    }, none)
  }
  let found: Candidates | undefined
  for (const operand of cheapestFirst(expression.operands)) {
    const next = findCandidates(segment, operand)
    found = found === undefined ? next : join(and, found, next)
    if (isEmpty(found.may)) return none
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
  const whole: number[] = []
  const begun: Begun[] = []
  footer.streams.forEach(({ namespace }, stream) => {
    const sinceNs = permitted.get(namespace)
    if (sinceNs === undefined || dayOf(sinceNs) > footer.day) return
    const sinceTime = dayOf(sinceNs) === footer.day ? timeInDay(sinceNs) : 0
    if (sinceTime <= footer.firstTime) whole.push(stream)
    else if (sinceTime <= footer.lastTime) begun.push({ stream, sinceTime })
  })
  const bits = segment.documentsOf(whole)
  if (begun.length === 0) return bits
  // The segment may keep it for whoever asks next.
  const own = bits.slice()
  addSince(segment, begun, own)
  return own
}

function findStreams(segment: Segment, field: Exclude<Field, 'log'>, test: Test): Candidates {
  const passes = createTest(test)
  const streams = segment.footer.streams.flatMap((stream, index) => {
    const value = originOf(stream, field)
    return value !== undefined && passes(value) ? [index] : []
  })
  return exactly(segment.documentsOf(streams))
}

/** A stream of which some may be read: what is not before this moment. */
type Begun = { readonly stream: number; readonly sinceTime: number }

function addSince(segment: Segment, begun: readonly Begun[], bits: Bitmap): void {
  const { count, streams } = segment.footer
  const firstOf = new Uint32Array(streams.length).fill(count)
  // Namespaces have many streams each.
  const bounds = new Map<number, number>()
  for (const { stream, sinceTime } of begun) {
    const bound = bounds.get(sinceTime) ?? segment.lowerBound(sinceTime)
    bounds.set(sinceTime, bound)
    firstOf[stream] = bound
  }
  const from = [...bounds.values()].reduce((least, bound) => Math.min(least, bound), count)
  segment.useStreams(streamOf => {
    for (let document = from; document < count; document += 1)
      if (document >= (firstOf[streamOf[document] ?? 0] ?? count)) setBit(bits, document)
  })
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
