import { expect } from 'chai'
import { hasBit } from './bitmap.ts'
import { decodeDocuments, decodeStreams, keyOfStreams } from './stream-documents.ts'

const count = 70_000

/** Steps as a segment has them, of streams among which the documents are dealt out by a rule. */
function deal(streams: number, streamOf: (document: number) => number) {
  const documents = Array.from({ length: streams }, (): number[] => [])
  for (let document = 0; document < count; document += 1) documents[streamOf(document)]?.push(document)
  const bytes = documents.flatMap(own => own.flatMap((document, i) => steps(document - (own[i - 1] ?? 0))))
  const starts = new Uint32Array(streams + 1)
  documents.forEach((own, stream) => {
    starts[stream + 1] = (starts[stream] ?? 0) + own.length
  })
  return { documents, bytes: Buffer.from(bytes), starts }
}

function steps(step: number): readonly number[] {
  return step < 128 ? [step] : [(step & 0x7f) | 0x80, ...steps(step >>> 7)]
}

describe('the documents of streams', () => {
  const rules: readonly (readonly [string, number, (document: number) => number])[] = [
    ['one stream', 1, () => 0],
    ['three in turn', 3, document => document % 3],
    ['one after the other', 3, document => Math.floor(document / 25_000)],
    ['one with hardly any, far apart', 2, document => (document % 20_000 === 19_999 ? 0 : 1)],
    ['one that is empty', 3, document => (document % 2) * 2],
  ]
  for (const [name, streams, rule] of rules) {
    const { documents, bytes, starts } = deal(streams, rule)

    it(`${name}: all of them`, () => {
      expect([...decodeDocuments(bytes, count, starts)]).to.deep.equal(documents.flat())
    })

    it(`${name}: any of them`, () => {
      for (let choice = 0; choice < 2 ** streams; choice += 1) {
        const wanted = documents.flatMap((_, stream) => ((choice >>> stream) & 1 ? [stream] : []))
        const bits = decodeStreams(() => bytes, count, starts, wanted)
        const found = Array.from({ length: count }, (_, document) => document).filter(d => hasBit(bits, d))
        const expected = wanted.flatMap(stream => documents[stream] ?? []).toSorted((a, b) => a - b)
        expect(found, String(wanted)).to.deep.equal(expected)
      }
    })
  }

  it('needs no bytes where none or all are wanted', () => {
    const unread = (): never => expect.fail('read')
    const starts = Uint32Array.of(0, 2, 3)
    expect(decodeStreams(unread, 3, starts, [])).to.deep.equal(Uint32Array.of(0))
    expect(decodeStreams(unread, 3, starts, [0, 1])).to.deep.equal(Uint32Array.of(0b111))
  })

  it('of very many streams', () => {
    const streams = Array.from({ length: 200_000 }, (_, i) => i)
    const starts = Uint32Array.from({ length: 200_002 }, (_, i) => i)
    const bytes = Buffer.from(Array.from({ length: 200_001 }, (_, i) => steps(i)).flat())
    const bits = decodeStreams(() => bytes, 200_001, starts, streams)
    expect([hasBit(bits, 0), hasBit(bits, 199_999), hasBit(bits, 200_000)]).to.deep.equal([true, true, false])
    expect(keyOfStreams(streams)).to.have.length(44)
    expect(keyOfStreams([1, 23])).to.not.equal(keyOfStreams([12, 3]))
  })
})
