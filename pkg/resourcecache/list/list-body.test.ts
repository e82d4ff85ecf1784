import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { createRandom, entry } from '../fixtures.ts'
import { type Selection, selectPage } from '../store/chunk.ts'
import { SortedIndex } from '../store/sorted-index.ts'
import { joinGzip } from './gzip.ts'
import {
  aggregatedForm,
  type Form,
  gzipPieces,
  isLongerThan,
  isWorthGzip,
  joinList,
  plainChunks,
  platformForm,
} from './list-body.ts'
import { managedFieldsForm } from './managed-fields-form.ts'
import { byKey } from './order.ts'
import { PageCache } from './page-cache.ts'

const frame = { before: '{"items":[', after: '],"total":7}\n' }
const entries = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    entry(`n${1000 + i}`, { spec: { id: 'ü'.repeat(i % 7) }, meta: { managedFields: [i] } }),
  )

const plain = (selection: Selection, form: Form) =>
  Buffer.concat([...plainChunks(selection, form, frame)]).toString()
const unpacked = (selection: Selection, form: Form) =>
  gunzipSync(Buffer.concat([...joinGzip(gzipPieces(selection, form, frame, pages.pieces))])).toString()
const pages = new PageCache()

describe('plainChunks and gzipPieces', () => {
  for (const form of [aggregatedForm, platformForm, managedFieldsForm]) {
    it(`write the same JSON in the ${form.name} representation, at every offset and in both directions`, () => {
      const size = 130
      const index = new SortedIndex(byKey, entries(size))
      const names = index.snapshot().flatMap(chunk => chunk.entries.map(({ name }) => name))
      for (const descending of [false, true]) {
        const ordered = descending ? names.toReversed() : names
        for (const count of [0, 1, 10, 24, 25, 60, size]) {
          for (let offset = 0; offset < size; offset += 7) {
            const selection = selectPage(index.snapshot(), { offset, count, descending, size })
            const text = plain(selection, form)
            const parsed: { items: { metadata: { name: string } }[]; total: number } = JSON.parse(text)
            expect(parsed.items.map(item => item.metadata.name)).to.deep.equal(
              ordered.slice(offset, offset + count),
            )
            expect(parsed.total).to.equal(7)
            expect(unpacked(selection, form)).to.equal(text)
          }
        }
      }
    })
  }

  it('write an empty list as an empty list', () => {
    const nothing: Selection = { runs: [], descending: false }
    for (const text of [plain(nothing, platformForm), unpacked(nothing, platformForm)])
      expect(text).to.equal('{"items":[],"total":7}\n')
  })

  it('reflect changes without compressing unchanged objects again', () => {
    const random = createRandom(6)
    const index = new SortedIndex(byKey, entries(200))
    for (let step = 0; step < 300; step++) {
      const name = `n${1000 + random(260)}`
      const old = index
        .snapshot()
        .flatMap(chunk => chunk.entries)
        .find(other => other.name === name)
      const next = entry(name, { version: step, spec: { step } })
      if (!old) index.insert(next)
      else if (random(3) === 0) index.remove(old)
      else index.replace(old, next)
      const descending = random(2) === 0
      const page = { offset: random(50), count: random(300), descending, size: index.size }
      const selection = selectPage(index.snapshot(), page)
      for (const form of [aggregatedForm, platformForm])
        expect(unpacked(selection, form)).to.equal(plain(selection, form))
    }
  })

  it('compress a chunk once for all requests with the same representation', () => {
    const index = new SortedIndex(byKey, entries(100))
    const whole = () => selectPage(index.snapshot(), { offset: 0, count: 100, descending: false, size: 100 })
    const [, ...first] = gzipPieces(whole(), platformForm, frame, pages.pieces)
    const [, ...second] = gzipPieces(whole(), platformForm, { before: '[', after: ']' }, pages.pieces)
    for (const [i, piece] of first.slice(0, -1).entries()) expect(second[i]).to.equal(piece)
  })

  it('join small objects, and pass on large ones without copying', () => {
    const large = entry('large', { spec: { x: 'x'.repeat(1_000_000) } })
    const index = new SortedIndex(byKey, [...entries(30), large])
    const selection = selectPage(index.snapshot(), { offset: 0, count: 31, descending: false, size: 31 })
    for (const form of [aggregatedForm, platformForm, managedFieldsForm]) {
      const chunks = [...plainChunks(selection, form, frame)]
      expect(chunks.filter(({ length }) => length > 200_000)).to.deep.equal([large.tail])
      expect(chunks.some(chunk => chunk.buffer === large.tail.buffer)).to.equal(true)
      expect(Buffer.concat(chunks).equals(joinList(selection, form, frame))).to.equal(true)
    }
  })
})

describe('isWorthGzip', () => {
  it('returns true for more than 128 KiB', () => {
    const of = (bytes: number): Selection => {
      const length = aggregatedForm.toParts(entry('a'))[0]?.length ?? 0
      // The 17 characters of `,"spec":{"x":"…"}}` around the text.
      const big = entry('a', { spec: { x: 'x'.repeat(bytes - length - 17) } })
      return selectPage(new SortedIndex(byKey, [big]).snapshot(), {
        offset: 0,
        count: 1,
        descending: false,
        size: 1,
      })
    }
    const limit = 128 * 1024
    expect([limit - 1, limit].map(bytes => isLongerThan(bytes, of(limit), aggregatedForm))).to.deep.equal([
      true,
      false,
    ])
    expect(isWorthGzip(of(limit), aggregatedForm)).to.equal(false)
    expect(isWorthGzip(of(limit + 1), aggregatedForm)).to.equal(true)
  })
})
