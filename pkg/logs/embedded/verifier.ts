import type { Expression } from '../expression.ts'
import { createTest } from '../matcher.ts'
import { originOf } from '../record.ts'
import type { Segment } from './segment.ts'
import { createTextTest } from './text-test.ts'

/** Whether the line at a place of a segment, which is of this stream, matches. */
export type Verifier = (stream: number, place: number) => boolean

/** What is asked of a stream is answered once for each, and only then is a line looked at. */
export function createVerifier(segment: Segment, expression: Expression): Verifier {
  if (expression.op === 'match') {
    const { field, test } = expression
    if (field === 'log') {
      const passes = createTextTest(test)
      return (_, place) => segment.testText(place, passes)
    }
    const passes = createTest(test)
    const streams = segment.footer.streams.map(stream => {
      const value = originOf(stream, field)
      return value !== undefined && passes(value)
    })
    return stream => streams[stream] === true
  }
  if (expression.op === 'not') {
    const inner = createVerifier(segment, expression.operand)
    return (stream, place) => !inner(stream, place)
  }
  const operands = expression.operands.map(operand => createVerifier(segment, operand))
  return expression.op === 'and'
    ? (stream, place) => operands.every(test => test(stream, place))
    : (stream, place) => operands.some(test => test(stream, place))
}
