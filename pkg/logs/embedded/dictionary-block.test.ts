import { expect } from 'chai'
import { createDecompress } from './decompress.ts'
import { openDictionaryBlock, openWholeBlock } from './dictionary-block.ts'
import { createBlockWriter } from './dictionary-block-writer.ts'
import { useCompressed } from './segment-format.ts'
import { numberOf, numbersThatBegin, numbersThatHave } from './word-numbers.ts'

const entries = Buffer.from('what is known of them')

function written(words: readonly string[]): Buffer {
  const writer = createBlockWriter()
  const parts: Buffer[] = []
  for (const word of words) {
    const bytes = Buffer.from(`<${word}>`)
    writer.add(bytes, 1, bytes.length - 1)
  }
  writer.finish(entries, {
    put: bytes => {
      parts.push(Buffer.from(bytes))
      return { offset: 0, length: bytes.length }
    },
  })
  writer.release()
  return Buffer.concat(parts)
}

/** As segments had it before version 3. */
function writtenWhole(words: readonly string[]): Buffer {
  const text = Buffer.from(words.map(word => `${word}\0`).join(''))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(text.length)
  return useCompressed(Buffer.concat([head, text, entries]), Buffer.from)
}

describe('a block of the dictionary', () => {
  const many = Array.from({ length: 3000 }, (_, i) => `w${String(i).padStart(5, '0')}`)
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['one word', ['one']],
    ['the empty word among others', ['', ' ', 'a', 'aa', 'ab', 'b']],
    ['many words', many],
    ['words of which each fills a part', ['a', 'b', 'c'].map(letter => letter.repeat(5000))],
    ['words as they end and begin parts', [...many.slice(0, 1170), 'w01170', 'w011700', 'w0117000', 'x']],
  ]
  const others = ['', '!', 'on', 'onee', 'w', 'w00', 'w0117', 'w02', 'w029995', 'w9', 'zz', '\u00e9']
  for (const [name, words] of lists) {
    for (const [form, open, bytes] of [
      ['in parts', openDictionaryBlock, written(words)],
      ['whole', openWholeBlock, writtenWhole(words)],
    ] as const) {
      const block = () => open(bytes, createDecompress())
      const prefixes = [...others, ...words.filter((_, i) => i % 97 === 0), ...words.slice(-3)]

      it(`${name}, ${form}: has each word by its number, and no other`, () => {
        for (const [number, word] of words.entries())
          expect(numberOf(block(), Buffer.from(word))).to.equal(number)
        for (const word of others.filter(other => !words.includes(other)))
          expect(numberOf(block(), Buffer.from(word)), word).to.equal(-1)
      })

      it(`${name}, ${form}: tells which words begin with something, and which have it within`, () => {
        for (const text of prefixes.flatMap(word => [word, word.slice(0, 4)])) {
          const { from, to } = numbersThatBegin(block(), Buffer.from(text))
          expect(words.slice(from, to), text).to.deep.equal(words.filter(word => word.startsWith(text)))
          if (text === '') continue
          const found = numbersThatHave(block(), Buffer.from(text)).map(number => words[number])
          expect(found, text).to.deep.equal(words.filter(word => word.includes(text)))
        }
      })

      it(`${name}, ${form}: has the entries`, () => {
        expect(block().entries()).to.deep.equal(entries)
      })
    }
  }

  it('is empty again once it is written', () => {
    const writer = createBlockWriter()
    const sizes = [0, 1].map(() => {
      writer.add(Buffer.from('word'), 0, 4)
      return writer.finish(entries, { put: bytes => ({ offset: 0, length: bytes.length }) }).length
    })
    expect(sizes[0]).to.equal(sizes[1])
    expect(writer.isEmpty()).to.equal(true)
  })

  it('is refused where it is cut or changed', () => {
    const bytes = written(many)
    const changed = Buffer.from(bytes)
    changed[bytes.length - 12] = (changed[bytes.length - 12] ?? 0) ^ 0xff
    const cases: readonly (readonly [Buffer, string])[] = [
      [bytes.subarray(0, 0), 'the bytes end too early'],
      [bytes.subarray(0, 40), 'the bytes end too early'],
      [bytes.subarray(0, bytes.length - 1), 'unexpected end of file'],
      [changed, "doesn't match checksum"],
    ]
    for (const [damaged, message] of cases)
      expect(() => openDictionaryBlock(damaged, createDecompress()).entries()).to.throw(message)
  })
})
