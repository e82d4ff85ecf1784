import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type PartitionId, partitionExtension } from './partition-id.ts'
import { partitionFiles } from './schema.ts'

const folderName = 'set-aside'

/** Moves the files of a damaged partition to the folder `set-aside`. @returns the new location */
export function setPartitionAside(folder: string, id: PartitionId): string {
  const first = join(folder, folderName, id + partitionExtension)
  let target = first
  for (let i = 2; existsSync(target); i += 1) target = `${first}.${i}`
  mkdirSync(target, { recursive: true })
  for (const file of partitionFiles(folder, id))
    if (existsSync(file)) renameSync(file, join(target, basename(file)))
  return target
}
