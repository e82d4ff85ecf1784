import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createLogger } from '../telemetry/logger.ts'
import { AuditSink, type SinkOptions } from './sink.ts'

const logger = createLogger({ program: 'test', level: 'error', destination: { write: () => undefined } })

describe('AuditSink', () => {
  let folder: string
  let path: string
  let lost: number
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-audit-'))
    path = join(folder, 'logs', 'audit.log')
    lost = 0
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  async function start(options: Partial<SinkOptions> = {}): Promise<AuditSink> {
    const count = (n: number) => {
      lost += n
    }
    const sink = new AuditSink({
      ...{ path, maxBytes: 1024 * 1024, maxBackups: 2, bufferEvents: 1_000, logger, lost: count },
      ...options,
    })
    await sink.start()
    return sink
  }

  const lines = (file = path) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line))

  it('writes one JSON line per event, in order, into a file that only its owner can read', async () => {
    const sink = await start()
    for (let n = 0; n < 500; n++) sink.write(JSON.stringify({ n }))
    await sink.stop()
    expect(lines()).to.deep.equal(Array.from({ length: 500 }, (_, n) => ({ n })))
    expect(statSync(path).mode & 0o777).to.equal(0o600)
  })

  it('appends to an existing file', async () => {
    for (const n of [1, 2]) {
      const sink = await start()
      sink.write(JSON.stringify({ n }))
      await sink.stop()
    }
    expect(lines()).to.deep.equal([{ n: 1 }, { n: 2 }])
  })

  it('rotates a large file, keeps the configured number, and loses no line of those', async () => {
    const sink = await start({ maxBytes: 100, maxBackups: 2 })
    for (let n = 0; n < 6; n++) {
      sink.write(JSON.stringify({ n, filler: 'x'.repeat(80) }))
      await new Promise(resolve => setTimeout(resolve, 30))
    }
    await sink.stop()
    const files = readdirSync(join(folder, 'logs')).sort()
    expect(files).to.have.length(3)
    const kept = files.filter(name => name !== 'audit.log').flatMap(name => lines(join(folder, 'logs', name)))
    expect([...kept, ...lines()].map(({ n }) => n)).to.deep.equal([3, 4, 5])
  })

  it('buffers a limited number of events when nothing can be written, and counts the dropped ones', async () => {
    const sink = await start({ bufferEvents: 3 })
    for (let n = 0; n < 5; n++) sink.write(JSON.stringify({ n }))
    expect([sink.isFull, lost]).to.deep.equal([true, 2])
    await sink.stop()
    expect(lines().map(({ n }) => n)).to.deep.equal([0, 1, 2])
    expect(sink.isFull).to.equal(false)
  })

  it('buffers no more than 64 MiB of events', async () => {
    const sink = await start()
    const event = JSON.stringify({ body: 'x'.repeat(16 * 1024 * 1024) })
    for (let n = 0; n < 5; n++) sink.write(event)
    expect([sink.isFull, lost]).to.deep.equal([true, 1])
    await sink.stop()
    expect(lines()).to.have.length(4)
  })

  it('does not start without a writable file', async () => {
    writeFileSync(join(folder, 'logs'), 'in the way')
    const failure = await start().then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(String(failure)).to.match(/EEXIST|ENOTDIR/)
  })
})
