import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { parseSubscriptionMessage, parseSubscriptions } from './message.ts'

const refused = (message: string) => ({ code: 400, reason: 'BadRequest', message })
const path = '/kapi/v1/pods?watch=true'
const wrongId = 'invalid id: expected 1 to 64 letters, digits or any of _ . : / -'
const wrongPath = 'invalid path: expected a path with watch=true, such as /kapi/v1/pods?watch=true'
const wrongList = 'invalid subscriptions: expected a JSON array of {"id", "path"}'

describe('parseSubscriptionMessage', () => {
  it('reads both types', () => {
    const message = { type: 'SUBSCRIBE', id: 'apps/pods:1', path }
    expect(parseSubscriptionMessage(JSON.stringify({ ...message, more: 1 }))).to.deep.equal(message)
    expect(parseSubscriptionMessage('{"type":"UNSUBSCRIBE","id":"a"}')).to.deep.equal({
      type: 'UNSUBSCRIBE',
      id: 'a',
    })
  })

  const invalid: readonly [text: string, message: string][] = [
    ['', 'invalid message: expected a JSON object'],
    ['[]', 'invalid message: expected a JSON object'],
    ['null', 'invalid message: expected a JSON object'],
    ['{"type":"SUBSCRIBE"}', wrongId],
    [JSON.stringify({ type: 'SUBSCRIBE', id: 'x'.repeat(65), path }), wrongId],
    [JSON.stringify({ type: 'SUBSCRIBE', id: 'a b', path }), wrongId],
    [JSON.stringify({ type: 'SUBSCRIBE', id: 7, path }), wrongId],
    ['{"type":"SUBSCRIBE","id":"a"}', wrongPath],
    ['{"type":"SUBSCRIBE","id":"a","path":"https://example.com/"}', wrongPath],
    [
      '{"type":"subscribe","id":"a","path":"/"}',
      'unknown type "subscribe"; supported: SUBSCRIBE, UNSUBSCRIBE',
    ],
    [
      '{"id":"a","__proto__":{"type":"SUBSCRIBE"},"path":"/"}',
      'unknown type ""; supported: SUBSCRIBE, UNSUBSCRIBE',
    ],
  ]
  for (const [text, message] of invalid)
    it(`rejects ${text.slice(0, 60)}`, () => {
      expect(thrownFields(() => parseSubscriptionMessage(text))).to.deep.equal(refused(message))
    })
})

describe('parseSubscriptions', () => {
  it('reads a list', () => {
    expect(parseSubscriptions(JSON.stringify([{ id: 'a', path }]))).to.deep.equal([
      { type: 'SUBSCRIBE', id: 'a', path },
    ])
  })

  for (const text of ['', 'x', '{}', '[]', '[1]'])
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(thrownFields(() => parseSubscriptions(text))).to.deep.equal(refused(wrongList))
    })
})
