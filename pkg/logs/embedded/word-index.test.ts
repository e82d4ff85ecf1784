import { expect } from 'chai'
import type { Lines } from './lines.ts'
import { linesOf } from './lines-fixtures.ts'
import { createIndexer, type Indexer } from './word-index.ts'
import { createListGatherer, createListMaker, type LineLists } from './word-lists.ts'
import { finish } from './work-fixtures.ts'

const batches: Readonly<Record<string, Lines>> = {
  many: linesOf(Array.from({ length: 3000 }, (_, i) => `error ${i % 7} n${i} error é${i % 3}`)),
  few: linesOf(['', 'error error', 'x'.repeat(80), 'a b '.repeat(2000), 'K ERROR']),
  none: linesOf([]),
  others: linesOf(Array.from({ length: 300 }, (_, i) => `GET /api/${i} ${i % 2}`)),
}

/** The lines of each word. */
function indexOf(indexer: Indexer<LineLists>, lines: Lines): Readonly<Record<string, readonly number[]>> {
  const order = Uint32Array.from({ length: lines.count }, (_, i) => i)
  const { vocabulary, starts, documents } = finish(indexer(lines, order))
  const words = Array.from({ length: vocabulary.size }, (_, id) => {
    const word = vocabulary.bytes().toString('utf8', vocabulary.start(id), vocabulary.end(id))
    return [word, [...documents.subarray(starts[id], starts[id + 1])]] as const
  })
  return Object.fromEntries(words)
}

describe('createIndexer', () => {
  for (const [name, gather] of Object.entries({ createListGatherer, createListMaker })) {
    it(`makes the same index in memory that had others, with ${name}`, () => {
      const indexer = createIndexer<LineLists>(gather())
      for (const round of [1, 2]) {
        for (const [batch, lines] of Object.entries(batches)) {
          const found = indexOf(indexer, lines)
          expect(found, `${batch} ${round}`).to.deep.equal(
            indexOf(createIndexer(createListGatherer()), lines),
          )
        }
      }
    })
  }

  it('knows the lines of a word', () => {
    const found = indexOf(createIndexer(createListMaker()), batches.few ?? linesOf([]))
    const { error, b, k, ...rest } = found
    expect({ error, b, k }).to.deep.equal({ error: [1, 4], b: [3], k: [4] })
    // A word that is cut is noted under no word, a line with more than have positions under a blank.
    expect(rest).to.deep.equal({ a: [3], '': [2], ' ': [3], ['x'.repeat(64)]: [2] })
  })
})
