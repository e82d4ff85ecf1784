import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { crashBatchLines } from './crash-fixtures.ts'
import { openTestStore, readAll, useFolder } from './fixtures.ts'
import type { FullDiskReport } from './full-disk-fixtures.ts'

async function linesIn(folder: string): Promise<readonly string[]> {
  const store = await openTestStore(folder)
  try {
    return await readAll(store)
  } finally {
    await store.close()
  }
}

describe('a store that is killed in the middle of ingest', () => {
  const folder = useFolder()

  /** Starts and kills the program. @returns the last acknowledged batch */
  async function appendAndKill(firstBatch: number, afterMs: number): Promise<number> {
    const script = join(import.meta.dirname, 'crash-fixtures.ts')
    // In its own process group, so that the store's child processes are killed, too.
    const child = spawn(process.execPath, [script, folder(), String(firstBatch)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    })
    let last = firstBatch - 1
    const began = Promise.withResolvers<void>()
    child.on('message', batch => {
      last = Number(batch)
      began.resolve()
    })
    const exited = once(child, 'exit')
    await Promise.race([began.promise, exited])
    await sleep(afterMs)
    killGroup(child)
    const [code, signal] = await exited
    expect({ code, signal }).to.deep.equal({ code: null, signal: 'SIGKILL' })
    return last
  }

  it('contains every acknowledged line exactly once, after each of ten kills', async function () {
    this.timeout(120_000)
    let last = -1
    // Sends unacknowledged batches again, as log shippers do.
    for (let time = 0; time < 10; time += 1) last = await appendAndKill(last + 1, 20 + 61 * time)
    const found = await linesIn(folder())
    const acknowledged = (last + 1) * crashBatchLines
    expect(acknowledged).to.be.greaterThan(1000)
    // At most one batch may have been stored without a response before the kill.
    expect([acknowledged, acknowledged + crashBatchLines]).to.include(found.length)
    expect(found).to.deep.equal(found.map((_, i) => `line ${i}`))
  })
})

function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

describe('a store whose disk is full', () => {
  const folder = useFolder()

  it('returns 507, and loses no acknowledged line', async function () {
    this.timeout(60_000)
    // A file size limit simulates a full disk. SIGXFSZ must be ignored, because it would end the
    // process.
    const command = `trap '' XFSZ; ulimit -f 2048; exec "$0" "$@"`
    const script = join(import.meta.dirname, 'full-disk-fixtures.ts')
    const child = spawn('bash', ['-c', command, process.execPath, script, folder()], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    let report: FullDiskReport | undefined
    child.on('message', message => {
      report = message as FullDiskReport
    })
    await once(child, 'exit')
    expect(report).to.deep.equal({
      acknowledged: report?.acknowledged,
      code: 507,
      message: 'the log volume is full; the batch was not stored',
      found: report?.acknowledged,
      check: 'the disk with the logs is full',
    })
    expect(report?.acknowledged).to.be.greaterThan(0)
    const found = await linesIn(folder())
    expect(found.map(log => log.split(' ', 2).join(' '))).to.deep.equal(
      Array.from({ length: report?.acknowledged ?? 0 }, (_, i) => `line ${i}`),
    )
  })
})
