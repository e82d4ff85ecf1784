import { expect } from 'chai'
import { traceId } from './trace-id.ts'

const id = '4bf92f3577b34da6a3ce929d0e0e4736'

describe('traceId', () => {
  const cases: readonly (readonly [given: string | undefined, found: string | undefined])[] = [
    [`00-${id}-00f067aa0ba902b7-01`, id],
    [`cc-${id}-00f067aa0ba902b7-01-what-comes-later`, id],
    [undefined, undefined],
    ['', undefined],
    [`ff-${id}-00f067aa0ba902b7-01`, undefined],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
    [`00-${id.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
    [`00-${id}-01`, undefined],
    [`00-${id}-00f067aa0ba902b7-01, 00-${id}-00f067aa0ba902b7-01`, undefined],
  ]
  for (const [given, found] of cases) {
    it(`returns ${found} for ${given}`, () => {
      const headers = given === undefined ? {} : { traceparent: given }
      expect(traceId({ headers })).to.equal(found)
    })
  }
})
