import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createEmbeddedStore } from './embedded-store.ts'
import { createLinesBuilder } from './lines.ts'
import { loadManifest, saveManifest } from './manifest.ts'
import { writeSegment } from './segment-writer.ts'

const day = 20_000
const streams = 2000
const segments = 400
const id = 'f'.repeat(64)

/** A line of each of very many pods, as the file of a segment. */
function manyPods(): { readonly bytes: Buffer; readonly textBytes: number } {
  const lines = createLinesBuilder(day)
  for (let i = 0; i < streams; i += 1) {
    const [pod, text] = [`deployment-of-some-name-7d4b9c-${i}`, Buffer.from(`line ${i}\n`)]
    const stream = {
      namespace: `ns-${i % 50}`,
      pod,
      container: 'main',
      host: `node-${i % 9}`,
      dockerId: id + i,
    }
    lines.add(i, i + 1, stream, text, 0, text.length)
  }
  const parts: Buffer[] = []
  const { textBytes } = writeSegment(lines.finish(), part => parts.push(Buffer.from(part)))
  return { bytes: Buffer.concat(parts), textBytes }
}

describe('a store of many segments with many streams', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-many-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('is read in little memory', async function () {
    this.timeout(120_000)
    const { bytes, textBytes } = manyPods()
    const name = new Date(day * 86_400_000).toISOString().slice(0, 10)
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, `${name}/1.seg`), bytes)
    const files = Array.from({ length: segments }, (_, i) => `${name}/${i + 1}.seg`)
    for (const file of files.slice(1)) linkSync(join(folder, `${name}/1.seg`), join(folder, file))
    const stored = { day, count: streams, bytes: bytes.length, textBytes, lastSequence: streams }
    await saveManifest(folder, {
      ...(await loadManifest(folder)),
      nextSegment: segments + 1,
      nextSequence: streams + 1,
      segments: files.map(file => ({ file, ...stored })),
    })
    const store = await createEmbeddedStore({
      folder,
      retention: { days: 7, bytes: 1e10 },
      // With which a thread has 64 MB of heap.
      memoryBytes: 128 * 1024 * 1024,
      // Or they would be made into larger ones.
      flushLines: streams,
      now: () => day * 86_400_000,
      report: (message, error) => console.error(message, error),
    })
    try {
      const limits = { timeoutMs: 60_000 }
      const one = { scope: [{ namespace: 'ns-7', sinceNs: 0n }] }
      for (const _ of [1, 2]) {
        expect(await store.statistics({ scope: 'everything' }, limits)).to.deep.equal({
          containers: streams,
          logs: streams * segments,
        })
        expect(await store.statistics(one, limits)).to.deep.equal({ containers: 40, logs: 40 * segments })
      }
    } finally {
      await store.close()
    }
  })
})
