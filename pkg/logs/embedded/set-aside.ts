import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type PartitionId, partitionExtension } from './partition-id.ts'
import { partitionFiles } from './schema.ts'

const folderName = 'set-aside'

/** Moves the files of a partition where the store does not look. @returns where they are */
export function setPartitionAside(folder: string, id: PartitionId): string {
  return moveAside(folder, partitionFiles(folder, id), `${id}${partitionExtension}`)
}

/**
 * Moves the files of the store that was there before SQLite: a manifest, write-ahead logs and a folder for each day.
 *
 * @returns where they are; undefined when there are none
 */
export function setOldStoreAside(folder: string): string | undefined {
  const isOld = (name: string) =>
    name.startsWith('manifest.json') || /^\d{10}\.wal$/.test(name) || /^\d{4}-\d{2}-\d{2}$/.test(name)
  const files = readdirSync(folder).filter(isOld)
  if (files.length === 0) return undefined
  return moveAside(
    folder,
    files.map(name => join(folder, name)),
    'old-format',
  )
}

function moveAside(folder: string, files: readonly string[], name: string): string {
  let target = join(folder, folderName, name)
  for (let i = 2; existsSync(target); i += 1) target = join(folder, folderName, `${name}.${i}`)
  mkdirSync(target, { recursive: true })
  for (const file of files) if (existsSync(file)) renameSync(file, join(target, basename(file)))
  return target
}
