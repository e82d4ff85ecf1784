import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import { readJson, readPatch } from './json-body.ts'

describe('JSON bodies', () => {
  function toRequest(text: string, type = 'application/json'): IncomingMessage {
    const req = new IncomingMessage(new Socket())
    req.headers['content-type'] = type
    req.push(text)
    req.push(null)
    return req
  }

  for (const [text, value] of [
    ['{"a":9007199254740993}', { a: 9007199254740993n }],
    ['[-9223372036854775808]', [-9223372036854775808n]],
    ['{"a":1.5,"b":1e3}', { a: 1.5, b: 1000 }],
  ] as const)
    it(`reads ${text} without rounding`, async () => {
      expect(await readJson(toRequest(text), ['application/json'])).to.deep.equal(value)
    })

  it('reads a patch without rounding', async () => {
    const patch = toRequest('{"spec":{"n":9007199254740993}}', 'application/merge-patch+json')
    expect(await readPatch(patch)).to.deep.equal({
      patch: { spec: { n: 9007199254740993n } },
      contentType: 'application/merge-patch+json',
    })
  })

  for (const [text, message] of [
    ['{"password":"secret"', 'the body is not valid JSON'],
    ['', 'the body is not valid JSON'],
    ['{"a":1e400}', 'the body has a number that is out of range'],
    ['['.repeat(101) + ']'.repeat(101), 'the JSON is nested deeper than 100 levels'],
  ] as const)
    it(`rejects ${text.slice(0, 30)}`, async () => {
      const error: unknown = await readJson(toRequest(text), ['application/json']).catch(
        (caught: unknown) => caught,
      )
      expect(error).to.include({ code: 400, message })
    })
})
