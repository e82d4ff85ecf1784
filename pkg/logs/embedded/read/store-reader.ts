import { readdirSync } from 'node:fs'
import { type PartitionId, partitionsAmong } from '../partition/partition-id.ts'
import { PartitionReader, type ReaderCaches } from '../partition/partition-reader.ts'

// Maximum number of open databases: each takes about 300 KB in addition to its page cache.
const maxOpen = 48

/** Provides readers for the partitions of a store. */
export class StoreReader {
  readonly #folder: string
  readonly #caches: ReaderCaches
  #partitions = new Map<PartitionId, PartitionReader>()

  constructor(folder: string, caches: ReaderCaches) {
    this.#folder = folder
    this.#caches = caches
  }

  /** Lists the folder and returns the partitions, sorted by day and part. */
  partitions(): readonly PartitionReader[] {
    const before = this.#partitions
    this.#partitions = new Map(
      partitionsAmong(readdirSync(this.#folder)).map(id => [
        id,
        before.get(id) ?? new PartitionReader(this.#folder, id, this.#caches),
      ]),
    )
    for (const [id, partition] of before) if (!this.#partitions.has(id)) partition.close()
    return [...this.#partitions.values()]
  }

  /** Closes databases beyond the limit. Begins with the oldest days, which are queried least. */
  limitOpen(): void {
    const open = [...this.#partitions.values()].filter(({ isOpen }) => isOpen)
    for (const partition of open.slice(0, Math.max(open.length - maxOpen, 0))) partition.close()
  }

  close(): void {
    for (const partition of this.#partitions.values()) partition.close()
  }
}
