import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type PartitionId, partitionExtension } from './partition-id.ts'
import { partitionFiles } from './schema.ts'

const folderName = 'set-aside'

/** Moves the files of a damaged partition to the folder `set-aside`. @returns the new location */
export function setPartitionAside(folder: string, id: PartitionId): string {
  return moveAside(folder, partitionFiles(folder, id), `${id}${partitionExtension}`)
}

function moveAside(folder: string, files: readonly string[], name: string): string {
  let target = join(folder, folderName, name)
  for (let i = 2; existsSync(target); i += 1) target = join(folder, folderName, `${name}.${i}`)
  mkdirSync(target, { recursive: true })
  for (const file of files) if (existsSync(file)) renameSync(file, join(target, basename(file)))
  return target
}
