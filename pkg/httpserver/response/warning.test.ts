import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import { addWarning } from './warning.ts'

describe('addWarning', () => {
  const warningsOf = (...texts: readonly string[]) => {
    const res = new ServerResponse(new IncomingMessage(new Socket()))
    for (const text of texts) addWarning(res, text)
    return res.getHeader('warning')
  }
  const rows: readonly (readonly [string, string])[] = [
    ['unknown sort key', '299 - "unknown sort key"'],
    ['unknown "a\\b"', '299 - "unknown \\"a\\\\b\\""'],
    ['a\r\nSet-Cookie: b', '299 - "a??Set-Cookie: b"'],
    ['größe 李', '299 - "gr??e ?"'],
    ['x'.repeat(300), `299 - "${'x'.repeat(256)}"`],
  ]
  for (const [text, expected] of rows)
    it(`writes ${JSON.stringify(text.slice(0, 20))}`, () => expect(warningsOf(text)).to.equal(expected))

  it('adds no warning to a response that has been sent', () => {
    const res = new ServerResponse(new IncomingMessage(new Socket()))
    res.writeHead(504).end()
    addWarning(res, 'late')
    expect(res.getHeader('warning')).to.equal(undefined)
  })

  it('writes each warning once, in a separate header', () => {
    expect(warningsOf('a', 'b', 'a')).to.deep.equal(['299 - "a"', '299 - "b"'])
  })
})
