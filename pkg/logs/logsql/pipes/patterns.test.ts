import { expect } from 'chai'
import { createPatterns } from './patterns.ts'

const found = (lines: Iterable<string>) => {
  const patterns = createPatterns()
  for (const line of lines) patterns.add(line)
  return patterns.result().map(({ pattern, count }) => [count, pattern])
}

describe('createPatterns', () => {
  it('groups lines by their pattern', () => {
    const lines = Array.from({ length: 300 }, (_, i) => [
      `2026-11-27T07:05:${i} INFO GET /api/orders/${i} 200 ${i}ms`,
      `connection from ${['alice', 'bob', 'carol'][i % 3]} closed after ${i} bytes\n`,
      `{"level":"warn","msg":"queue is slow","depth":${i}}`,
      ...(i === 7 ? ['panic: out of memory'] : []),
    ]).flat()
    expect(found(lines)).to.deep.equal([
      [300, '<*> INFO GET /api/orders/<*> <*> <*>'],
      [300, 'connection from <*> closed after <*> bytes'],
      [300, '{"level":"warn","msg":"queue is slow","depth":<*>}'],
      [1, 'panic: out of memory'],
    ])
  })

  it('separates lines that are not similar', () => {
    expect(found(['user logged in', 'user logged in', 'disk sda full'])).to.deep.equal([
      [2, 'user logged in'],
      [1, 'disk sda full'],
    ])
  })

  it('counts each line once, with any number of patterns', () => {
    const word = (i: number) => i.toString(26).replace(/\d/g, digit => 'qrstuvwxyz'[Number(digit)] ?? '')
    const lines = Array.from({ length: 20_000 }, (_, i) => `${word(i)} ${word(i * 7)} ${word(i * 13)}`)
    const patterns = found(lines)
    expect(patterns.length).to.be.at.most(256 * 16 + 1)
    expect(patterns.reduce((sum, [count]) => sum + Number(count), 0)).to.equal(20_000)
  })

  for (const text of ['', ' ', '<*>', '""', 'x'.repeat(300_000), '= '.repeat(100_000)]) {
    it(`groups lines such as ${JSON.stringify(text.slice(0, 5))}`, () => {
      expect(found([text, text])[0]?.[0]).to.equal(2)
    })
  }
})
