import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { frameOf } from './frame-fixtures.ts'
import { linesOf } from './lines-fixtures.ts'
import { createPieceCache } from './piece-cache.ts'
import { createReaderSources } from './reader-sources.ts'
import { writeSegment } from './segment-writer.ts'

const stream = { namespace: 'ns', pod: 'pod', container: 'c', host: '', dockerId: '' }
const megabyte = 1024 * 1024

describe('createReaderSources', () => {
  const create = (report: (error: unknown) => void, rest: () => void = () => undefined) =>
    createReaderSources({
      cache: createPieceCache(megabyte),
      answers: createPieceCache(megabyte),
      freshBytes: 16 * megabyte,
      filterBytes: megabyte,
      rest,
      report,
    })
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-sources-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('reads no more of lines that have become a segment, and goes on with others', async () => {
    const reported: unknown[] = []
    const sources = create(error => reported.push(error))
    const addLog = async (id: string, first: number): Promise<string> => {
      const records = Array.from({ length: 5000 }, (_, i) => ({
        ...stream,
        timeNs: BigInt(i),
        log: `line ${i}`,
      }))
      const parts = [0, 2500].map(from => frameOf(records.slice(from, from + 2500), first + from).bytes)
      const file = join(folder, id)
      await writeFile(file, Buffer.concat(parts))
      let to = 0
      for (const part of parts) {
        to += part.length
        sources.change({ add: [{ id, log: { file, from: 0, to }, isNew: false }], remove: [] })
        // Some steps, of many.
        sources.tend(() => true)
      }
      return file
    }
    const file = await addLog('fresh-1', 1)
    expect(sources.isUntended()).to.equal(true)
    sources.change({ add: [], remove: ['fresh-1'] })
    await rm(file)
    await addLog('fresh-2', 5001)
    sources.tend(() => false)
    expect(reported).to.deep.equal([])
    expect(sources.isUntended()).to.equal(false)
    const { segments, release } = sources.take(true)
    expect(segments.reduce((sum, { footer }) => sum + footer.count, 0)).to.equal(5000)
    release()
  })

  it('lets go of lines that have become a segment once no question reads them any more', async () => {
    const sources = create(error => expect.fail(String(error)))
    const records = Array.from({ length: 4000 }, (_, i) => ({
      ...stream,
      timeNs: BigInt(i),
      log: `line ${i}`,
    }))
    const bytes = [0, 2500].map(from => frameOf(records.slice(from, from + 2500), 1 + from).bytes)
    const file = join(folder, 'fresh')
    await writeFile(file, Buffer.concat(bytes))
    const to = Buffer.concat(bytes).length
    sources.change({ add: [{ id: 'fresh', log: { file, from: 0, to }, isNew: false }], remove: [] })
    sources.tend(() => false)
    const [early, late] = [sources.take(true), sources.take(true)]
    sources.change({ add: [], remove: ['fresh'] })
    expect(sources.take(true).segments).to.deep.equal([])
    early.release()
    early.release()
    const textsOf = (segments: typeof late.segments): readonly string[] =>
      segments.flatMap(segment =>
        Array.from({ length: segment.footer.count }, (_, place) => segment.textAt(place).toString()),
      )
    expect(textsOf(late.segments).toSorted()).to.deep.equal(records.map(({ log }) => log).toSorted())
    expect(late.segments.map(({ dictionary }) => dictionary?.documentsOf('line').count)[0]).to.be.above(2000)
    // The block is full, and the rest has not grown to one.
    const growing = late.segments.at(-1)?.column?.bytes
    late.release()
    expect(growing?.length).to.equal(0)
  })

  it('indexes all of a log once the next has begun', async () => {
    const sources = create(error => expect.fail(String(error)))
    const add = async (id: string): Promise<void> => {
      const records = Array.from({ length: 1000 }, (_, i) => ({
        ...stream,
        timeNs: BigInt(i),
        log: `line ${i}`,
      }))
      const { bytes } = frameOf(records, 1)
      const file = join(folder, id)
      await writeFile(file, bytes)
      sources.change({ add: [{ id, log: { file, from: 0, to: bytes.length }, isNew: true }], remove: [] })
      sources.tend(() => false)
    }
    const indexed = (): readonly boolean[] => {
      const { segments, release } = sources.take(true)
      release()
      return segments.map(({ dictionary }) => dictionary !== undefined)
    }
    await add('fresh-1')
    expect(indexed()).to.deep.equal([false])
    await add('fresh-2')
    expect(indexed()).to.deep.equal([true, false])
  })

  async function putSegment(): Promise<string> {
    const file = join(folder, 'segment')
    const parts: Buffer[] = []
    const texts = Array.from({ length: 2000 }, (_, i) => `line ${i}`)
    writeSegment(linesOf(texts), part => parts.push(Buffer.from(part)))
    await writeFile(file, Buffer.concat(parts))
    return file
  }

  it('looks into no file for a word that it does not have, once it is tended', async () => {
    const sources = create(error => expect.fail(String(error)))
    const file = await putSegment()
    sources.change({ add: [{ id: 'segment', file }], remove: [] })
    expect(sources.isUntended()).to.equal(true)
    const { segments, release } = sources.take(true)
    sources.tend(() => false)
    expect(sources.isUntended()).to.equal(false)
    await truncate(file)
    const [dictionary] = segments.map(segment => segment.dictionary)
    expect(dictionary?.documentsOf('absent').count).to.equal(0)
    expect(() => dictionary?.documentsOf('line')).to.throw('segment: ends at')
    release()
  })

  it('rests before it unpacks a piece of a segment', async () => {
    let rests = 0
    const sources = create(
      error => expect.fail(String(error)),
      () => {
        rests += 1
      },
    )
    const file = await putSegment()
    sources.change({ add: [{ id: 'segment', file }], remove: [] })
    const { segments, release } = sources.take(true)
    const opened = rests
    expect(segments[0]?.textAt(7).toString()).to.equal('line 7')
    expect(rests).to.equal(opened + 1)
    expect(segments[0]?.textAt(8).toString()).to.equal('line 8')
    expect(rests).to.equal(opened + 1)
    release()
  })
})
