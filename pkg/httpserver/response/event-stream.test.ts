import { expect } from 'chai'
import { acceptsServerSentEvents } from './event-stream.ts'

describe('acceptsServerSentEvents', () => {
  const cases: readonly (readonly [accept: string | undefined, isAccepted: boolean])[] = [
    [undefined, false],
    ['*/*', false],
    ['application/json', false],
    ['text/event-stream', true],
    ['TEXT/Event-Stream; charset=utf-8', true],
    ['text/event-stream, */*;q=0.1', true],
    ['text/event-stream, application/json', true],
    ['application/json, text/event-stream', false],
    ['application/json;q=0.5, text/event-stream', true],
    ['text/event-stream;q=0, application/json', false],
    ['text/event-stream;q=0', false],
    ['x-text/event-streams', false],
  ]
  for (const [accept, isAccepted] of cases)
    it(`returns ${isAccepted} for ${accept ?? 'no header'}`, () => {
      expect(acceptsServerSentEvents({ headers: accept === undefined ? {} : { accept } })).to.equal(
        isAccepted,
      )
    })
})
