import { readdir, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Manifest, type StoredSegment, saveManifest } from './manifest.ts'
import type { SourceName } from './source.ts'

/** Which segments there are on the disk. What changes them is durable before it is told. */
export type Catalog = {
  readonly manifest: () => Manifest
  readonly names: () => readonly SourceName[]
  /** Replaces segments, and lets go of what they were made from. */
  readonly commit: (change: {
    readonly add?: readonly StoredSegment[]
    readonly remove?: readonly StoredSegment[]
    readonly firstLog?: number
    readonly nextSequence?: number
    readonly recentBatches?: readonly string[]
    /** Called in the same step; names the segments in memory that are replaced too. */
    readonly release?: () => readonly string[]
  }) => Promise<void>
  readonly bytes: () => number
}

export function createCatalog(
  folder: string,
  loaded: Manifest,
  /** Resolves when whoever reads has let go of what is removed, or has opened it at least. */
  onChange: (change: {
    readonly add: readonly SourceName[]
    readonly remove: readonly string[]
  }) => Promise<void>,
): Catalog {
  let manifest = loaded
  let last: Promise<unknown> = Promise.resolve()
  const toName = ({ file }: StoredSegment): SourceName => ({ id: file, file: join(folder, file) })

  async function commit(change: Parameters<Catalog['commit']>[0]): Promise<void> {
    const { add = [], remove = [], release = () => [], ...rest } = change
    const gone = new Set(remove.map(({ file }) => file))
    const next: Manifest = {
      ...manifest,
      ...rest,
      nextSegment: manifest.nextSegment + add.length,
      segments: [...manifest.segments.filter(({ file }) => !gone.has(file)), ...add],
    }
    await saveManifest(folder, next)
    manifest = next
    await onChange({ add: add.map(toName), remove: [...gone, ...release()] })
    for (const { file } of remove) {
      await rm(join(folder, file), { force: true })
      // The folder of a day goes with its last segment.
      await rmdir(dirname(join(folder, file))).catch(() => undefined)
    }
  }

  return {
    manifest: () => manifest,
    names: () => manifest.segments.map(toName),
    bytes: () => manifest.segments.reduce((sum, { bytes }) => sum + bytes, 0),
    commit: change => {
      const result = last.then(() => commit(change))
      last = result.catch(() => undefined)
      return result
    },
  }
}

/** Removes files that a crash left behind: those of days that the manifest does not name. */
export async function removeStrangers(folder: string, { segments }: Manifest): Promise<void> {
  const known = new Set(segments.map(({ file }) => file))
  for (const day of await readdir(folder, { withFileTypes: true })) {
    if (!day.isDirectory() || !/^\d{4}-\d{2}-\d{2}$/.test(day.name)) continue
    for (const name of await readdir(join(folder, day.name))) {
      const file = `${day.name}/${name}`
      if (/\.seg(\.new)?$/.test(name) && !known.has(file)) await rm(join(folder, file))
    }
  }
}
