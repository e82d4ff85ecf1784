import { dayMs, formatDay } from './day.ts'

/** The name of a partition: `2026-05-16.002` is the third file of that UTC day. */
export type PartitionId = string

export const partitionExtension = '.db'

export function partitionId(day: number, part: number): PartitionId {
  return `${formatDay(day)}.${String(part).padStart(3, '0')}`
}

/** Parses a partition ID. @throws RangeError if it is invalid */
export function parsePartitionId(id: PartitionId): { readonly day: number; readonly part: number } {
  const found = /^(\d{4}-\d{2}-\d{2})\.(\d{3,})$/.exec(id)
  const day = Date.parse(`${found?.[1]}T00:00:00Z`) / dayMs
  if (!Number.isInteger(day)) throw new RangeError(`invalid partition name ${JSON.stringify(id)}`)
  return { day, part: Number(found?.[2]) }
}

/** Returns the partitions among the files of a folder, sorted by day and part. */
export function partitionsAmong(files: readonly string[]): readonly PartitionId[] {
  return files
    .filter(name => /^\d{4}-\d{2}-\d{2}\.\d{3,}\.db$/.test(name))
    .map(name => name.slice(0, -partitionExtension.length))
    .sort((a, b) => compareIds(a, b))
}

function compareIds(a: PartitionId, b: PartitionId): number {
  const [one, other] = [parsePartitionId(a), parsePartitionId(b)]
  return one.day - other.day || one.part - other.part
}
