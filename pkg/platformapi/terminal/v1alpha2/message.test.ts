import { expect } from 'chai'
import { formatTerminalOutput, parseTerminalInput } from './message.ts'

describe('parseTerminalInput', () => {
  const valid: readonly (readonly [string, object])[] = [
    ['{"Op":"stdin","Data":"ls\\n"}', { op: 'stdin', data: 'ls\n' }],
    ['{"Op":"stdin"}', { op: 'stdin', data: '' }],
    ['{"Op":"resize","Cols":80,"Rows":24}', { op: 'resize', columns: 80, rows: 24 }],
  ]
  for (const [text, input] of valid)
    it(`reads ${text}`, () => expect(parseTerminalInput(text)).to.deep.equal(input))

  const invalid = [
    ...['', 'ls', 'null', '[]', '{}', '{"Op":"stdout","Data":"x"}', '{"Op":"stdin","Data":1}'],
    ...['{"Op":"resize","Cols":-1,"Rows":24}', '{"Op":"resize","Cols":80,"Rows":65536}'],
  ]
  for (const text of invalid)
    it(`rejects ${JSON.stringify(text)}`, () =>
      expect(() => parseTerminalInput(text)).to.throw('expected {"Op":"stdin"'))
})

describe('formatTerminalOutput', () => {
  it('returns one line', () => {
    expect(formatTerminalOutput('stdout', 'a\r\nb')).to.equal('{"Op":"stdout","Data":"a\\r\\nb"}\n')
  })
})
