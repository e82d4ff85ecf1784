import { crc32 } from 'node:zlib'
import { expect } from 'chai'
import { createWordFilter, pageBytes } from './word-filter.ts'
import { createWordFilters, type FilteredSegment, type WordFilters } from './word-filters.ts'

// A filter of a page and a block.
const filterWords = pageBytes + 1
const room = 2 * pageBytes

/** One with a filter of two pages, and how often these were read. */
function createSegment(id: string, day: number, lastTime = 0, damage = 0) {
  const writer = createWordFilter(filterWords)
  const words = Buffer.from(`${id}word`)
  writer.add(words, 0, words.length)
  const file = Buffer.concat([Buffer.from('before'), writer.view()])
  const crc = crc32(writer.view()) + damage
  let reads = 0
  const segment: FilteredSegment = {
    id,
    footer: { day, lastTime, filter: { offset: 6, length: file.length - 6, crc } },
    readInto: (offset, into) => {
      reads += 1
      file.copy(into, 0, offset, offset + into.length)
    },
  }
  return { segment, reads: () => reads }
}

describe('createWordFilters', () => {
  const create = (
    limitBytes: number,
    report: (error: unknown) => void = error => expect.fail(String(error)),
  ) => createWordFilters(limitBytes, report)
  const load = (filters: WordFilters): number => [...filters.load()].length
  /** Of which segments it can say that they do not have a word. */
  const known = (filters: WordFilters, ids: readonly string[]): readonly string[] =>
    ids.filter(id => !filters.mayHave(id, Buffer.from('absent')))

  it('tells which word a segment does not have, once it is loaded', () => {
    const filters = create(8 * room)
    const { segment } = createSegment('a', 1)
    filters.add(segment)
    expect(filters.mayHave('a', Buffer.from('absent'))).to.equal(true)
    expect(load(filters)).to.equal(1)
    expect(filters.mayHave('a', Buffer.from('absent'))).to.equal(false)
    expect(filters.mayHave('a', Buffer.from('aword'))).to.equal(true)
    expect(filters.mayHave('another', Buffer.from('absent'))).to.equal(true)
  })

  it('has those of the newest segments, as long as there is room, and reads none twice', () => {
    const filters = create(2 * room)
    const made = [
      createSegment('second', 2, 7),
      createSegment('oldest', 1, 9),
      createSegment('newest', 2, 8),
      createSegment('later', 3, 1),
    ]
    const ids = made.map(({ segment }) => segment.id)
    for (const { segment } of made.slice(0, 3)) filters.add(segment)
    expect(load(filters)).to.equal(2)
    expect(known(filters, ids)).to.deep.equal(['second', 'newest'])
    for (const { segment } of made.slice(3)) filters.add(segment)
    expect(load(filters)).to.equal(1)
    expect(known(filters, ids)).to.deep.equal(['newest', 'later'])
    filters.remove('later')
    expect(known(filters, ids)).to.deep.equal(['newest'])
    expect(load(filters)).to.equal(1)
    expect(known(filters, ids)).to.deep.equal(['second', 'newest'])
    expect(made.map(({ reads }) => reads())).to.deep.equal([4, 0, 2, 2])
  })

  it('does not read a segment that was removed meanwhile', () => {
    const filters = create(2 * room)
    const [first, second] = [createSegment('first', 2), createSegment('second', 1)]
    filters.add(first.segment)
    filters.add(second.segment)
    const loading = filters.load()
    loading.next()
    filters.remove('second')
    expect(loading.next().done).to.equal(true)
    expect(second.reads()).to.equal(0)
  })

  it('believes none that is damaged, says so once, and has the others', () => {
    const reported: unknown[] = []
    const filters = create(8 * room, error => reported.push(error))
    const [damaged, whole] = [createSegment('damaged', 2, 0, 1), createSegment('whole', 1)]
    filters.add(damaged.segment)
    filters.add(whole.segment)
    load(filters)
    load(filters)
    expect(known(filters, ['damaged', 'whole'])).to.deep.equal(['whole'])
    expect(reported.map(String)).to.deep.equal(['Error: segment damaged: the filter of its words is damaged'])
    expect(damaged.reads()).to.equal(2)
  })

  it('knows nothing of a segment that was written without', () => {
    const filters = create(room)
    filters.add({ id: 'old', footer: { day: 1, lastTime: 0 }, readInto: () => expect.fail('read') })
    load(filters)
    expect(known(filters, ['old'])).to.deep.equal([])
  })
})
