import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { exportHits } from '../export.ts'
import { crashBatchLines, crashDay } from './crash-fixtures.ts'
import { createEmbeddedStore } from './embedded-store.ts'
import type { FullDiskReport } from './full-disk-fixtures.ts'

async function readAll(folder: string): Promise<readonly string[]> {
  const store = await createEmbeddedStore({
    folder,
    retention: { days: 7, bytes: 1e9 },
    memoryBytes: 128 * 1024 * 1024,
    now: () => crashDay * 86_400_000,
    report: () => undefined,
  })
  try {
    const what = { filter: { scope: 'everything' as const }, order: 'asc' as const, limit: 1e9 }
    const found: string[] = []
    for await (const hits of exportHits(store, what, { timeoutMs: 30_000 })) {
      found.push(...hits.map(({ record }) => record.log))
    }
    return found
  } finally {
    await store.close()
  }
}

describe('a store that is killed in the middle of ingest', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-crash-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** @returns the last batch that was acknowledged */
  async function appendAndKill(firstBatch: number, afterMs: number): Promise<number> {
    const child = fork(join(import.meta.dirname, 'crash-fixtures.ts'), [folder, String(firstBatch)])
    let last = firstBatch - 1
    const began = Promise.withResolvers<void>()
    child.on('message', batch => {
      last = Number(batch)
      began.resolve()
    })
    const exited = once(child, 'exit')
    await Promise.race([began.promise, exited])
    await sleep(afterMs)
    child.kill('SIGKILL')
    const [code, signal] = await exited
    expect({ code, signal }).to.deep.equal({ code: null, signal: 'SIGKILL' })
    return last
  }

  it('has every acknowledged line once, ten times over', async function () {
    this.timeout(120_000)
    let last = -1
    // What was not acknowledged is sent again, as a sender does.
    for (let time = 0; time < 10; time += 1) last = await appendAndKill(last + 1, 20 + 61 * time)
    const found = await readAll(folder)
    const acknowledged = (last + 1) * crashBatchLines
    expect(acknowledged).to.be.greaterThan(1000)
    // At most the one batch whose answer the kill prevented may follow.
    expect([acknowledged, acknowledged + crashBatchLines]).to.include(found.length)
    expect(found).to.deep.equal(found.map((_, i) => `line ${i}`))
  })
})

describe('a store whose disk is full', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-full-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** A limit on the size of a file stands in for the end of the disk; without the trap the signal would end the process. */
  async function fill(limitKb: number, flushLines: number): Promise<FullDiskReport> {
    const script = join(import.meta.dirname, 'full-disk-fixtures.ts')
    const command = `trap '' XFSZ; ulimit -f ${limitKb}; exec "$0" "$@"`
    const child = spawn('bash', ['-c', command, process.execPath, script, folder, String(flushLines)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    let report: FullDiskReport | undefined
    child.on('message', message => {
      report = message as FullDiskReport
    })
    await once(child, 'exit')
    if (report === undefined) throw new Error('the process said nothing')
    return report
  }

  const message = 'there is no space left for logs; nothing of this batch was stored'
  it('answers 507, and loses nothing of what it acknowledged', async function () {
    this.timeout(60_000)
    const report = await fill(256, 100_000)
    const { acknowledged } = report
    expect(report).to.deep.equal({
      acknowledged,
      code: 507,
      message,
      found: acknowledged,
      check: 'the disk with the logs is full',
    })
    expect(acknowledged).to.be.greaterThan(0)
    const found = await readAll(folder)
    expect(found.map(log => log.split(' ', 2).join(' '))).to.deep.equal(
      Array.from({ length: acknowledged }, (_, i) => `line ${i}`),
    )
  })
})
