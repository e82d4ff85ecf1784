import { expect } from 'chai'
import { hasBit } from './bitmap.ts'
import { toStarts } from './line-order.ts'
import { documentsOfStreams, groupDocuments, keyOfStreams, locate } from './stream-documents.ts'

const count = 70_000

/** Documents dealt out among streams by a rule. */
function deal(streams: number, streamOf: (document: number) => number) {
  const column = Uint16Array.from({ length: count }, (_, document) => streamOf(document))
  const documents = Array.from({ length: streams }, (): number[] => [])
  for (const [document, stream] of column.entries()) documents[stream]?.push(document)
  const starts = toStarts(documents.map(({ length }) => length))
  return { column, documents, starts, use: <T>(work: (of: Uint16Array) => T): T => work(column) }
}

describe('the documents of streams', () => {
  const rules: readonly (readonly [string, number, (document: number) => number])[] = [
    ['one stream', 1, () => 0],
    ['three in turn', 3, document => document % 3],
    ['one after the other', 3, document => Math.floor(document / 25_000)],
    ['one with hardly any, far apart', 2, document => (document % 20_000 === 19_999 ? 0 : 1)],
    ['one that is empty', 3, document => (document % 2) * 2],
    ['the last one empty', 4, document => document % 3],
  ]
  for (const [name, streams, rule] of rules) {
    const { column, documents, starts, use } = deal(streams, rule)
    const all = documents.flat()

    it(`${name}: all of them`, () => {
      expect([...groupDocuments(column, starts)]).to.deep.equal(all)
    })

    it(`${name}: any of them`, () => {
      for (let choice = 0; choice < 2 ** streams; choice += 1) {
        const wanted = documents.flatMap((_, stream) => ((choice >>> stream) & 1 ? [stream] : []))
        const bits = documentsOfStreams(use, starts, wanted)
        const found = Array.from({ length: count }, (_, document) => document).filter(d => hasBit(bits, d))
        const expected = wanted.flatMap(stream => documents[stream] ?? []).toSorted((a, b) => a - b)
        expect(found, String(wanted)).to.deep.equal(expected)
      }
    })

    const placeOf = new Map(all.map((document, place) => [document, place]))
    for (const [what, wanted] of [
      ['none', []],
      ['the first', [0]],
      ['the last', [count - 1]],
      ['some', [0, 1, 2, 19_999, 20_000, 24_999, 25_000, 69_998, 69_999]],
      ['all', Array.from({ length: count }, (_, document) => document)],
    ] as const) {
      it(`${name}: where ${what} of them are`, () => {
        const located = locate(column, starts, Uint32Array.from(wanted))
        const expected = wanted
          .map(document => ({ document, place: placeOf.get(document) ?? -1, stream: column[document] ?? -1 }))
          .sort((a, b) => a.place - b.place)
        expect([...located.documents]).to.deep.equal(expected.map(({ document }) => document))
        expect([...located.places]).to.deep.equal(expected.map(({ place }) => place))
        expect([...located.streams]).to.deep.equal(expected.map(({ stream }) => stream))
      })
    }
  }

  it('needs no column where none or all are wanted', () => {
    const unread = (): never => expect.fail('read')
    const starts = Uint32Array.of(0, 2, 3)
    expect(documentsOfStreams(unread, starts, [])).to.deep.equal(Uint32Array.of(0))
    expect(documentsOfStreams(unread, starts, [0, 1])).to.deep.equal(Uint32Array.of(0b111))
  })

  it('of very many streams', () => {
    const streams = Array.from({ length: 200_000 }, (_, i) => i)
    const starts = Uint32Array.from({ length: 200_002 }, (_, i) => i)
    const column = Uint32Array.from({ length: 200_001 }, (_, i) => i)
    const bits = documentsOfStreams(work => work(column), starts, streams)
    expect([hasBit(bits, 0), hasBit(bits, 199_999), hasBit(bits, 200_000)]).to.deep.equal([true, true, false])
    expect(keyOfStreams(streams)).to.have.length(44)
    expect(keyOfStreams([1, 23])).to.not.equal(keyOfStreams([12, 3]))
  })
})
