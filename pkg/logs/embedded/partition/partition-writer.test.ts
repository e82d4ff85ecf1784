import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { line, testDayNs, useFolder } from '../fixtures.ts'
import { createCaches } from '../read/caches.ts'
import { lineText, openBlock } from '../read/line-check.ts'
import { PartitionReader } from './partition-reader.ts'
import { PartitionWriter } from './partition-writer.ts'
import { partitionFile } from './schema.ts'

const id = '2024-10-04.000'

describe('PartitionWriter', () => {
  const folder = useFolder()
  const nameOf = (batch: number) => createHash('sha256').update(String(batch)).digest('base64')
  const textOf = (number: number) =>
    `line ${number} of a program that says this and that, status=${number % 7}`

  function write(batches: number, linesOfBatch: number): PartitionWriter {
    const writer = PartitionWriter.create(folder(), id)
    for (let batch = 0; batch < batches; batch += 1) {
      const numbers = Array.from({ length: linesOfBatch }, (_, i) => batch * linesOfBatch + i)
      writer.add(
        numbers.map(number =>
          line(textOf(number), { timeNs: testDayNs + BigInt(number), pod: `pod-${number % 3}` }),
        ),
        nameOf(batch),
      )
      expect(writer.commit()).to.deep.equal({ from: numbers[0], to: (batch + 1) * linesOfBatch })
    }
    return writer
  }

  function read(): { readonly texts: readonly string[]; readonly blocks: readonly number[] } {
    const reader = new PartitionReader(folder(), id, createCaches(1e6))
    reader.refresh()
    const texts = reader.blocks.flatMap(block => {
      const open = openBlock(reader, block)
      return Array.from({ length: block.count }, (_, place) => lineText(open, place))
    })
    const blocks = reader.blocks.map(({ count }) => count)
    reader.close()
    return { texts, blocks }
  }

  const sizes: readonly [batches: number, lines: number, blocks: number][] = [
    [1, 1, 1],
    [31, 1, 31],
    [3000, 1, 40],
    [100, 40, 35],
    [12, 700, 7],
    [5, 5000, 15],
  ]
  for (const [batches, lines, most] of sizes) {
    it(`writes ${batches} batches of ${lines} lines into at most ${most} blocks`, function () {
      this.timeout(60_000)
      write(batches, lines).close()
      const { texts, blocks } = read()
      expect(texts).to.deep.equal(Array.from({ length: batches * lines }, (_, number) => textOf(number)))
      expect(blocks.length).to.be.at.most(most)
    })
  }

  it('continues after the last line when it is reopened', () => {
    write(40, 1).close()
    const writer = new PartitionWriter(folder(), id)
    expect(writer.lines).to.equal(40)
    expect(writer.batches()[0]).to.equal(nameOf(39))
    writer.add([line('more', { pod: 'pod-1' })], nameOf(1000))
    expect(writer.commit()).to.deep.equal({ from: 40, to: 41 })
    writer.close()
    expect(read().texts.at(-1)).to.equal('more')
  })

  it('contains no line of an uncommitted batch', () => {
    const writer = write(1, 10)
    writer.add([line('lost')], nameOf(7))
    writer.close()
    expect(read().texts).to.have.length(10)
  })

  it('lets a reader finish with blocks that were merged in the meantime', () => {
    const writer = write(31, 1)
    const reader = new PartitionReader(folder(), id, createCaches(1e6))
    reader.refresh()
    const before = reader.blocks
    writer.add([line('one more', { fields: { a: 'b' } })], nameOf(31))
    writer.commit()
    const texts = before.map(block => lineText(openBlock(reader, block), 0))
    expect(texts).to.deep.equal(Array.from({ length: 31 }, (_, number) => textOf(number)))
    reader.refresh()
    expect(reader.blocks.map(({ count }) => count)).to.deep.equal([32])
    reader.close()
    writer.close()
  })

  it('optimizes its index in small steps without changing search results', () => {
    const writer = write(40, 300)
    const find = (): readonly (number | undefined)[] => {
      const reader = new PartitionReader(folder(), id, createCaches(1e6))
      reader.refresh()
      const range = { from: 0, to: reader.lines }
      const counts = ['"status 3"', '"line"', '"1234"', '"absent"'].map(query => reader.count(query, range))
      reader.close()
      return counts
    }
    const before = find()
    expect(before).to.deep.equal([1714, 12_000, 1, 0])
    let steps = 1
    while (writer.optimize()) steps += 1
    expect(steps).to.be.greaterThan(1)
    writer.checkpoint()
    writer.close()
    expect(find()).to.deep.equal(before)
  })

  it('frees the disk space of small batches from time to time', () => {
    const writer = write(3000, 1)
    writer.checkpoint()
    const bytes = writer.bytes
    while (writer.optimize());
    writer.checkpoint()
    writer.close()
    expect(statSync(partitionFile(folder(), id)).size).to.be.below(0.8 * bytes)
    const db = new DatabaseSync(partitionFile(folder(), id), { readOnly: true })
    expect(db.prepare('PRAGMA freelist_count').get()?.freelist_count).to.equal(0)
    expect(db.prepare('PRAGMA integrity_check').get()?.integrity_check).to.equal('ok')
    db.close()
  })
})
