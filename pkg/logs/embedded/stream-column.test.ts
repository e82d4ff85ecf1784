import { expect } from 'chai'
import { createDecompress } from './decompress.ts'
import { toStarts } from './line-order.ts'
import { type Output, type StoredColumn, useCompressed } from './segment-format.ts'
import { emptyColumn, useColumn, writeColumn } from './stream-column.ts'

const count = 3000

function createFile() {
  const parts: Buffer[] = []
  let offset = 0
  const output: Output = {
    put: bytes => {
      parts.push(Buffer.from(bytes))
      offset += bytes.length
      return { offset: offset - bytes.length, length: bytes.length }
    },
  }
  // Behind a byte, so that a number may begin where a processor would not have it.
  output.put(Buffer.of(0))
  const read = (stored: StoredColumn, starts: Uint32Array): number[] => {
    const file = Buffer.concat(parts)
    const use = <T>({ offset, length }: { offset: number; length: number }, work: (bytes: Buffer) => T): T =>
      work(file.subarray(offset, offset + length))
    return useColumn(stored, starts, { use, decompress: createDecompress() }, column => [...column])
  }
  return { output, read }
}

function startsOf(numbers: readonly number[], streams: number): Uint32Array {
  const counts = Array.from({ length: streams }, () => 0)
  for (const number of numbers) counts[number] = (counts[number] ?? 0) + 1
  return toStarts(counts)
}

function varint(step: number): readonly number[] {
  return step < 128 ? [step] : [(step & 0x7f) | 0x80, ...varint(step >>> 7)]
}

const scattered = (streams: number) => (i: number) => {
  const mixed = Math.imul(i + 1, 2_654_435_761)
  return (Math.imul(mixed ^ (mixed >>> 15), 2_246_822_519) >>> 8) % streams
}

describe('the column of streams', () => {
  const cases: readonly [string, number, (i: number) => number, StoredColumn['form'], number][] = [
    ['one stream', 1, () => 0, 'packed', 1],
    ['three in turn', 3, i => i % 3, 'packed', 1],
    ['256, as they come', 256, scattered(256), 'plain', 1],
    ['257, as they come', 257, scattered(257), 'plain', 2],
    ['999, as they come', 999, scattered(999), 'plain', 2],
    ['70,000, of which most have nothing', 70_000, scattered(70_000), 'plain', 4],
    ['70,000, one of which has nearly everything', 70_000, i => (i === 7 ? 69_999 : 3), 'packed', 4],
  ]
  for (const [name, streams, rule, form, width] of cases) {
    const numbers = Array.from({ length: count }, (_, i) => rule(i))
    const starts = startsOf(numbers, streams)

    it(`${name}: is ${form}, and what it was`, () => {
      const { output, read } = createFile()
      const column = emptyColumn(count, streams)
      column.set(numbers)
      const stored = writeColumn(column, output)
      expect([stored.form, column.BYTES_PER_ELEMENT]).to.deep.equal([form, width])
      if (form === 'plain') expect(stored.length).to.equal(count * width)
      else expect(stored.length).to.be.below((count * width) / 2)
      expect(read(stored, starts)).to.deep.equal(numbers)
    })

    it(`${name}: the same of steps, as segments had it before version 3`, () => {
      const { output, read } = createFile()
      const own = Array.from({ length: streams }, (): number[] => [])
      for (const [document, stream] of numbers.entries()) own[stream]?.push(document)
      const steps = own.flatMap(documents => documents.flatMap((d, i) => varint(d - (documents[i - 1] ?? 0))))
      const piece = useCompressed(Buffer.from(steps), output.put)
      expect(read({ ...piece, form: 'steps' }, starts)).to.deep.equal(numbers)
    })
  }

  it('is refused where it is not whole', () => {
    const { output, read } = createFile()
    const numbers = Array.from({ length: count }, (_, i) => scattered(256)(i))
    const stored = writeColumn(Uint8Array.from(numbers), output)
    const starts = startsOf(numbers, 256)
    expect(() => read({ ...stored, length: count - 1 }, starts)).to.throw(RangeError, 'not whole')
    expect(() => read({ ...stored, form: 'packed' }, starts)).to.throw('Unknown frame descriptor')
  })
})
