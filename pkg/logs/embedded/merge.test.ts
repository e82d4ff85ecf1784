import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { frameOf } from './frame-fixtures.ts'
import { mergeToFiles } from './merge.ts'
import { createMergeMemory } from './merge-memory.ts'
import { createIndexer } from './word-index.ts'
import { createListGatherer } from './word-lists.ts'

const count = 5000

describe('mergeToFiles', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-merge-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('gives way every few hundred lines, of logs and of segments', async () => {
    const file = join(folder, 'log')
    const { bytes } = frameOf(records(), 1)
    await writeFile(file, bytes)
    let given = 0
    const means = {
      indexer: createIndexer(createListGatherer()),
      memory: createMergeMemory(),
      giveWay: () => {
        given += 1
      },
    }
    const made = mergeToFiles(
      { logs: [{ file, from: 0, to: bytes.length }], segments: [] },
      { folder, firstNumber: 1 },
      means,
    )
    expect(made.map(segment => segment.count)).to.deep.equal([count])
    // Read, and indexed.
    expect(given).to.be.at.least((2 * count) / 512)
    given = 0
    const segments = made.map(segment => ({ id: segment.file, file: join(folder, segment.file) }))
    const together = mergeToFiles({ logs: [], segments }, { folder, firstNumber: 2 }, means)
    expect(together.map(segment => segment.count)).to.deep.equal([count])
    expect(given).to.be.at.least((2 * count) / 512)
  })
})

function records() {
  const names = { namespace: 'shop', pod: 'web-0', container: 'web', host: 'worker-1', dockerId: 'c0ffee' }
  return Array.from({ length: count }, (_, i) => ({
    timeNs: BigInt(i),
    log: `line ${i} of many\n`,
    ...names,
  }))
}
