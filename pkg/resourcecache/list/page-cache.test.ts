import { expect } from 'chai'
import { createRandom, entry } from '../fixtures.ts'
import { selectPage } from '../store/chunk.ts'
import { SortedIndex } from '../store/sorted-index.ts'
import { type Frame, plainChunks, platformForm } from './list-body.ts'
import { managedFieldsForm } from './managed-fields-form.ts'
import { byKey } from './order.ts'
import { PageCache } from './page-cache.ts'

const frame = (total: number): Frame => ({ before: '{"items":[', after: `],"totalItems":${total}}\n` })
const indexOf = (count: number, prefix = 'n') =>
  new SortedIndex(
    byKey,
    Array.from({ length: count }, (_, i) => entry(`${prefix}${1000 + i}`, { meta: { managedFields: [i] } })),
  )
const pageOf = (index: SortedIndex, offset: number, count: number, descending = false) =>
  selectPage(index.snapshot(), { offset, count, descending, size: index.size })

describe('PageCache', () => {
  it('returns the same bytes for an unchanged page', () => {
    const pages = new PageCache()
    const index = indexOf(100)
    const first = pages.page(pageOf(index, 10, 10), platformForm, frame(100))
    expect(pages.page(pageOf(index, 10, 10), platformForm, frame(100))).to.equal(first)
  })

  it('does not cache long lists, which are streamed', () => {
    const index = indexOf(1000)
    expect(new PageCache().page(pageOf(index, 0, 1000), platformForm, frame(1000))).to.equal(undefined)
  })

  it('always returns what a new page would contain, after any change', () => {
    const random = createRandom(11)
    const pages = new PageCache()
    const indexes = [indexOf(90), indexOf(90, 'm'), indexOf(90)]
    for (let step = 0; step < 3000; step++) {
      const index = indexes[random(indexes.length)]
      if (index === undefined) continue
      const name = `n${1000 + random(95)}`
      if (random(4) === 0) {
        index.remove(entry(name))
        if (random(2)) index.insert(entry(name, { version: step }))
      }
      const selection = pageOf(index, random(10) * 10, random(3) * 10, random(2) === 0)
      const form = random(2) ? platformForm : managedFieldsForm
      const around = frame(random(2) ? index.size : 0)
      const given = pages.page(selection, form, around)
      const again = Buffer.concat([...plainChunks(selection, form, around)])
      expect(given?.equals(again)).to.equal(true)
    }
  })
})
