import { expect } from 'chai'
import { defaultLimits } from '../limits.ts'
import { parseJsonLines } from './parse.ts'

const line = (log: string) => `{"time":"2020-05-16T16:00:42Z","log":${JSON.stringify(log)}}`
const read = (body: string) =>
  [...parseJsonLines(Buffer.from(body), defaultLimits)].map(({ line: number, record, problem }) => [
    number,
    record?.log ?? problem,
  ])

describe('parseJsonLines', () => {
  const cases: Readonly<Record<string, readonly (readonly [number, string])[]>> = {
    '': [],
    '\n\r\n \n': [],
    [`${line('a')}\n${line('b')}\n`]: [
      [1, 'a'],
      [2, 'b'],
    ],
    [`${line('a')}\r\n\r\nx\n${line('b')}`]: [
      [1, 'a'],
      [3, 'not valid JSON'],
      [4, 'b'],
    ],
    '[]': [],
    [`\ufeff${line('a')}\n`]: [[1, 'a']],
    [`\ufeff[${line('a')}]`]: [[1, 'a']],
    [` \r\n\t[${line('a')}]`]: [[1, 'a']],
    '[ ]': [],
    [`[${line('a,]}"[{\\')} , ${line('b')}]\n`]: [
      [1, 'a,]}"[{\\'],
      [2, 'b'],
    ],
    [`[${line('a')},1,[2],${line('b')}]`]: [
      [1, 'a'],
      [2, 'not a JSON object'],
      [3, 'not a JSON object'],
      [4, 'b'],
    ],
    [`[${line('a')}`]: [[1, 'not valid JSON']],
    [`[${line('a')},`]: [
      [1, 'a'],
      [2, 'not valid JSON'],
    ],
    [`[${line('a')}] more`]: [
      [1, 'a'],
      [2, 'not valid JSON'],
    ],
    [`[{"log":"NaN,","a":[NaN,-Infinity]},${line('b')}]`]: [
      [1, 'NaN,'],
      [2, 'b'],
    ],
    // What the out_http plugin of Fluent Bit sends as json_stream.
    [`${line('a{}')}${line('b')} ${line('c')}\r\n${line('d')}{"log":\n`]: [
      [1, 'a{}'],
      [1, 'b'],
      [1, 'c'],
      [2, 'd'],
      [2, 'not valid JSON'],
    ],
    [`${line('a')}\n\ufeff${line('b')}`]: [
      [1, 'a'],
      [2, 'b'],
    ],
    [`${line('a')} more`]: [[1, 'not valid JSON']],
    '["': [[1, 'not valid JSON']],
    '[}': [[1, 'not valid JSON']],
  }
  for (const [body, lines] of Object.entries(cases)) {
    it(JSON.stringify(body).slice(0, 70), () => expect(read(body)).to.deep.equal(lines))
  }

  it('limits the values of each document, not those of all documents together', () => {
    const body = Buffer.from(`${line('a')}{"log":"b","x":[1,2,3,4,5,6]}${line('c')}`)
    const lines = [...parseJsonLines(body, { ...defaultLimits, jsonValues: 6 })]
    expect(lines.map(({ record, problem }) => record?.log ?? problem)).to.deep.equal([
      'a',
      'has more than 6 values',
      'c',
    ])
  })

  it('preserves the nanoseconds of a number in an array', () => {
    const [first] = parseJsonLines(Buffer.from('[{"date":1589644842.608962452,"log":"x"}]'), defaultLimits)
    expect(first?.record?.timeNs).to.equal(1589644842608962452n)
  })

  it('accepts a line as long as the limit inside an array', () => {
    const log = 'x\\"'.repeat(80_000)
    expect(read(`[${line(log)}]`)).to.deep.equal([[1, log]])
  })

  it('parses a string of megabytes without recursion, terminated or not', () => {
    const escapes = '\\n'.repeat(8_000_000)
    expect(read(`["${escapes}`)).to.deep.equal([[1, 'not valid JSON']])
    expect(read(`["${escapes}"]`)).to.deep.equal([[1, 'not a JSON object']])
  })
})
