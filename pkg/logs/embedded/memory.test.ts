import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { MemoryReport } from './memory-fixtures.ts'

describe('the memory of a store', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-memory-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('stays within its setting, while it takes in and reads more than that', async function () {
    this.timeout(180_000)
    const settingMb = 192
    const child = fork(join(import.meta.dirname, 'memory-fixtures.ts'), [folder, String(settingMb)], {
      // As the image has it. What this process itself makes and lets go of is not to hide what the store does.
      execArgv: ['--max-semi-space-size=2'],
      env: { ...process.env, MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '262144' },
    })
    const [[report]] = (await Promise.all([once(child, 'message'), once(child, 'exit')])) as [
      [MemoryReport],
      unknown,
    ]
    const { textMb, appended, found, peakMb, baseMb } = report
    expect(textMb).to.be.greaterThan(settingMb)
    expect(found).to.equal(appended)
    expect(peakMb - baseMb).to.be.lessThan(settingMb)
  })
})
