import { expect } from 'chai'
import { BlockBuilder, BlockError, decodeColumns, decodeText } from './block.ts'

type Line = readonly [time: number, stream: number, text: string, fields: string]

function roundTrip(lines: readonly Line[]): readonly Line[] {
  const builder = new BlockBuilder()
  for (const one of lines) builder.add(...one)
  const { count, chars, head, text, fields } = builder.build()
  expect(count).to.equal(lines.length)
  expect(builder.count).to.equal(0)
  const { times, streams, ends, fieldEnds } = decodeColumns(head, count, fields !== null)
  const texts = decodeText(text, chars)
  const json = fields === null ? '' : decodeText(fields, chars)
  const slice = (from: string, column: Uint32Array | undefined, i: number) =>
    from.slice(column?.[i - 1] ?? 0, column?.[i] ?? 0)
  return lines.map((_, i) => [
    times[i] ?? 0,
    streams[i] ?? 0,
    slice(texts, ends, i),
    slice(json, fieldEnds, i),
  ])
}

describe('a block', () => {
  const blocks: Readonly<Record<string, readonly Line[]>> = {
    'one line': [[5, 0, 'hello', '']],
    'an empty line': [[0, 7, '', '']],
    'lines that are not sorted by time': [
      [86_399_999_999_999, 1, 'last', ''],
      [0, 2, 'first', ''],
      [12, 70_000, 'middle', ''],
    ],
    'characters of one to four bytes': [
      [1, 0, 'aé€😀', ''],
      [2, 0, '失败\u0000\n', ''],
    ],
    'fields that only some lines have': [
      [1, 0, 'a', '{"user":"é"}'],
      [2, 0, 'b', ''],
      [3, 1, 'c', '{"group":["x","y"]}'],
    ],
  }
  for (const [what, lines] of Object.entries(blocks)) {
    it(`returns what was written: ${what}`, () => expect(roundTrip(lines)).to.deep.equal(lines))
  }

  it('returns thousands of lines as they were written', () => {
    const lines = Array.from(
      { length: 3000 },
      (_, i): Line => [i * 31, i % 9, `line ${i} ${'é'.repeat(i % 5)}`, ''],
    )
    expect(roundTrip(lines)).to.deep.equal(lines)
  })

  it('is rejected when it is damaged', () => {
    const builder = new BlockBuilder()
    for (let i = 0; i < 500; i += 1) builder.add(i, 0, `line ${i}`, '')
    const { head, text, count, chars } = builder.build()
    const flip = (bytes: Uint8Array) =>
      Uint8Array.from(bytes, (byte, i) => (i === bytes.length >>> 1 ? byte ^ 1 : byte))
    expect(() => decodeText(flip(text), chars)).to.throw(BlockError)
    expect(() => decodeColumns(flip(head), count, false)).to.throw(BlockError)
    expect(() => decodeColumns(head, count, true)).to.throw(BlockError)
  })
})
