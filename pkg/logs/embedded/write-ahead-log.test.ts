import {
  appendFile,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  rmdir,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { LogRecord } from '../record.ts'
import { createKnownStreams, type Frame, readingFrame } from './frame.ts'
import { frameOf } from './frame-fixtures.ts'
import { createLinesBuilder, dayNs, type LinesBuilder } from './lines.ts'
import {
  createWriteAheadLog,
  listWriteAheadLogs,
  readWriteAheadLog,
  writeAheadLogFile,
} from './write-ahead-log.ts'

const line = (log: string, timeNs: bigint): LogRecord => ({
  timeNs,
  log,
  namespace: 'ns',
  pod: 'pod',
  container: 'c',
  host: 'h',
  dockerId: 'd',
})

describe('createFrameEncoder and readingFrame', () => {
  it('bring back each line, of each day, to the nanosecond', () => {
    const records = [
      line('', 0n),
      line('ä失😀\n', 2n ** 63n - 1n),
      { ...line('x', dayNs - 1n), labels: { app: 'web' } },
      line('y'.repeat(300), dayNs),
      line('z', 1_795_255_445_111_484_007n),
    ]
    const days = new Map<number, LinesBuilder>()
    const reading = readingFrame(frameOf(records, 41).bytes, day => {
      const lines = days.get(day) ?? createLinesBuilder(day)
      days.set(day, lines)
      return lines
    })
    for (const _ of reading);
    const found = [...days.values()].flatMap(builder => {
      const { day, count, times, sequences, streamOf, streams, text, textStarts } = builder.finish()
      return Array.from({ length: count }, (_, i) => ({
        sequence: sequences[i],
        record: {
          timeNs: BigInt(day) * dayNs + BigInt(times[i] ?? 0),
          log: text.toString('utf8', textStarts[i], textStarts[i + 1]),
          ...streams[streamOf[i] ?? 0],
        },
      }))
    })
    found.sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))
    expect(found).to.deep.equal(records.map((record, i) => ({ sequence: 41 + i, record })))
  })

  it('remember streams for the next frame, as many as there is room for, and never a long one', () => {
    const known = createKnownStreams()
    const read = (records: readonly LogRecord[]): readonly string[] => {
      const builder = createLinesBuilder(0)
      for (const _ of readingFrame(frameOf(records, 1).bytes, () => builder, known));
      return builder.finish().streams.map(({ labels }) => labels?.app ?? '')
    }
    const labelled = (app: string) => ({ ...line('a', 1n), labels: { app } })
    expect([read([labelled('x')]), read([labelled('x'), labelled('y')])]).to.deep.equal([['x'], ['x', 'y']])
    expect(known.size).to.equal(2)
    const long = 'z'.repeat(2000)
    expect(read([labelled(long)])).to.deep.equal([long])
    expect(known.size).to.equal(2)
    for (let from = 0; from < 10_000; from += 1000) {
      const apps = Array.from({ length: 1000 }, (_, i) => `${from + i}`)
      expect(read(apps.map(labelled))).to.deep.equal(apps)
    }
    expect(known.size).to.be.at.most(4096)
  })

  it('know a batch by its lines and its id, not by when it came', () => {
    const key = (log: string, sequence: number, id?: string) => frameOf([line(log, 1n)], sequence, id).key
    expect(key('a', 1)).to.equal(key('a', 2))
    expect(new Set([key('a', 1), key('b', 1), key('a', 1, 'x'), key('a', 1, 'y')])).to.have.property(
      'size',
      4,
    )
  })
})

describe('createWriteAheadLog', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-wal-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  const frame = (number: number): Frame => frameOf([line(`line ${number}`, BigInt(number))], number)
  const keys = (frames: readonly Frame[]) => frames.map(({ key }) => key)

  /** Three frames in file 7. */
  async function write(): Promise<readonly Frame[]> {
    const log = await createWriteAheadLog(folder, 7)
    const frames = [frame(1), frame(2), frame(3)]
    await Promise.all(frames.map(one => log.append(one, () => undefined)))
    await log.close()
    return frames
  }

  it('keeps frames in order, in the file that was begun last', async () => {
    const log = await createWriteAheadLog(folder, 7)
    const order: [string, number][] = []
    const append = (one: Frame) => log.append(one, file => order.push([one.key, file]))
    const [a, b, c] = [frame(1), frame(2), frame(3)]
    const first = Promise.all([append(a), append(b)])
    expect(await log.rotate()).to.equal(7)
    await first
    await append(c)
    await log.close()
    expect(order).to.deep.equal([
      [a.key, 7],
      [b.key, 7],
      [c.key, 8],
    ])
    expect(await listWriteAheadLogs(folder)).to.deep.equal([7, 8])
    expect(keys((await readWriteAheadLog(folder, 7)).frames)).to.deep.equal(keys([a, b]))
    expect(keys((await readWriteAheadLog(folder, 8)).frames)).to.deep.equal([c.key])
  })

  it('refuses each of what waits while the disk is full and no file can be begun, and goes on when one can', async () => {
    await symlink('/dev/full', writeAheadLogFile(folder, 7))
    await mkdir(writeAheadLogFile(folder, 8))
    const log = await createWriteAheadLog(folder, 7)
    const append = (number: number) => log.append(frame(number), () => undefined)
    const codesOf = async (appended: readonly Promise<void>[]) =>
      (await Promise.allSettled(appended)).map(one => one.status === 'rejected' && one.reason.code)
    expect(await codesOf([append(1), append(2)])).to.deep.equal(['ENOSPC', 'ENOSPC'])
    // What stands in the file is not known, and it cannot be left: nothing is written behind it.
    expect(await codesOf([append(3)])).to.deep.equal(['EISDIR'])
    await rmdir(writeAheadLogFile(folder, 8))
    await append(4)
    await log.close()
    expect(keys((await readWriteAheadLog(folder, 8)).frames)).to.deep.equal([frame(4).key])
  })

  it('reads up to where a file was torn', async () => {
    const frames = await write()
    const file = writeAheadLogFile(folder, 7)
    const { length } = await readFile(file)
    await truncate(file, length - 1)
    const torn = await readWriteAheadLog(folder, 7)
    expect(keys(torn.frames)).to.deep.equal(keys(frames.slice(0, 2)))
    expect(torn.tornBytes).to.equal((frames[2]?.bytes.length ?? 0) - 1)
  })

  it('takes nothing that does not fit its checksum, nor anything after it', async () => {
    const frames = await write()
    const file = writeAheadLogFile(folder, 7)
    const bytes = await readFile(file)
    const middle = (frames[0]?.bytes.length ?? 0) + 30
    bytes[middle] = (bytes[middle] ?? 0) ^ 1
    await writeFile(file, bytes)
    expect(keys((await readWriteAheadLog(folder, 7)).frames)).to.deep.equal(keys(frames.slice(0, 1)))
  })

  it('is not led astray by what is no frame at all', async () => {
    const frames = await write()
    await appendFile(writeAheadLogFile(folder, 7), Buffer.alloc(100))
    expect(keys((await readWriteAheadLog(folder, 7)).frames)).to.deep.equal(keys(frames))
  })
})
