import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from './write-ahead-log.ts'

/** A segment on the disk. */
export type StoredSegment = {
  /** Relative to the folder of the store: `2026-11-21/12.seg`. */
  readonly file: string
  readonly day: number
  readonly count: number
  readonly bytes: number
  /** Of its texts, as they are; manifests did not always have it. */
  readonly textBytes?: number
  readonly lastSequence: number
}

/**
 * What counts. A file that is not named here is not part of the store; a write-ahead log below `firstLog` is in the segments.
 * The file is replaced as a whole, so that lines move from the one to the other in one step.
 */
export type Manifest = {
  readonly version: 1
  readonly firstLog: number
  readonly nextSegment: number
  readonly nextSequence: number
  readonly segments: readonly StoredSegment[]
  /** Keys of the batches that were stored last, the newest at the end. */
  readonly recentBatches: readonly string[]
}

export const emptyManifest: Manifest = {
  version: 1,
  firstLog: 1,
  nextSegment: 1,
  nextSequence: 1,
  segments: [],
  recentBatches: [],
}

const name = 'manifest.json'

export async function loadManifest(folder: string): Promise<Manifest> {
  let text: string
  try {
    text = await readFile(join(folder, name), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return emptyManifest
    throw error
  }
  const manifest: Manifest = JSON.parse(text)
  if (manifest.version !== 1) {
    throw new Error(
      `${join(folder, name)}: version ${manifest.version} is not known to this version of Kapis`,
    )
  }
  return manifest
}

export async function saveManifest(folder: string, manifest: Manifest): Promise<void> {
  const temporary = join(folder, `${name}.new`)
  const handle = await open(temporary, 'w')
  try {
    await handle.writeFile(JSON.stringify(manifest))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, join(folder, name))
  await syncFolder(folder)
}
