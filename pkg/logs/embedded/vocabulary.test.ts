import { expect } from 'chai'
import { createVocabulary, hashByte, hashSeed } from './vocabulary.ts'

describe('createVocabulary', () => {
  const vocabulary = createVocabulary()
  const idOf = (word: string): number => {
    const bytes = Buffer.from(word)
    return vocabulary.idOf(bytes, bytes.length, bytes.reduce(hashByte, hashSeed))
  }
  const sorted = (): readonly string[] =>
    Array.from(vocabulary.sorted(), id =>
      vocabulary.bytes().toString('utf8', vocabulary.start(id), vocabulary.end(id)),
    )
  const inOrder = (words: readonly string[]): readonly string[] =>
    words.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  beforeEach(() => vocabulary.clear())

  it('numbers words in the order in which they come, each once', () => {
    expect(['b', 'a', '', 'b', 'ab', '', 'a'].map(idOf)).to.deep.equal([0, 1, 2, 0, 3, 2, 1])
    expect(vocabulary.size).to.equal(4)
  })

  const alike = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, i) => `samebeginning${(i * 7919) % count}`)
  const sets: Readonly<Record<string, readonly string[]>> = {
    none: [],
    one: ['a'],
    'that are the beginning of others': ['abcdefgh', 'abcd', 'abcdefg', 'abc', '', 'abcde', 'abcdef'],
    'beyond ASCII': ['é', 'e', 'z', '€', '😀', 'ébène', 'éb'],
    'few that begin alike': alike(16),
    'some that begin alike': alike(17),
    'many that begin alike': alike(3000),
    many: Array.from({ length: 70_000 }, (_, i) => ((i * 2_654_435_761) % 2 ** 32).toString(36)),
  }
  for (const [name, words] of Object.entries(sets)) {
    it(`sorts words ${name} by their bytes, again and again`, () => {
      words.forEach(idOf)
      expect(sorted()).to.deep.equal(inOrder(words))
      expect(sorted()).to.deep.equal(inOrder(words))
      idOf('samebeginning-more')
      expect(sorted()).to.deep.equal(inOrder([...words, 'samebeginning-more']))
    })
  }
})
