import { existsSync, readdirSync, rmSync } from 'node:fs'
import {
  type PartitionId,
  parsePartitionId,
  partitionId,
  partitionsAmong,
} from '../partition/partition-id.ts'
import { PartitionWriter } from '../partition/partition-writer.ts'
import { openPartition, partitionFile, partitionFiles, partitionSize } from '../partition/schema.ts'
import type { Stream } from '../partition/stream.ts'

const maxOpen = 4
const listCacheBytes = 1024 * 1024
const partitionBytes = { min: 16 * 1024 * 1024, max: 1024 * 1024 * 1024 }

/** The partitions of a store, some of which are open for writing. */
export class OpenPartitions {
  readonly #folder: string
  readonly #maxBytes: number
  /** Open partitions by day, the least recently used first. */
  readonly #open = new Map<number, PartitionWriter>()
  /** The number of the last partition of each day. */
  readonly #lastPart = new Map<number, number>()
  /** Complete partitions that are open until their index is optimized. */
  #sealed: readonly PartitionWriter[] = []

  /** @param storeBytes maximum total size of the partitions */
  constructor(folder: string, storeBytes: number) {
    this.#folder = folder
    // Maximum size of a partition, a small part of the total: retention deletes whole ones.
    this.#maxBytes = Math.min(Math.max(storeBytes / 16, partitionBytes.min), partitionBytes.max)
    for (const id of this.listStored()) {
      const { day, part } = parsePartitionId(id)
      this.#lastPart.set(day, part)
    }
  }

  /** Lists the stored partitions, sorted by day and part. */
  listStored(): readonly PartitionId[] {
    return partitionsAmong(readdirSync(this.#folder))
  }

  sizeOf(id: PartitionId): number {
    return partitionSize(this.#folder, id)
  }

  /** Returns the first namespace in a partition for which `test` is true. @throws DamagedError */
  findNamespace(id: PartitionId, test: (namespace: string) => boolean): string | undefined {
    const db = openPartition(this.#folder, id, { readOnly: true, cacheBytes: listCacheBytes })
    try {
      for (const { origin } of db.prepare('SELECT origin FROM stream').iterate()) {
        const { namespace }: Stream = JSON.parse(String(origin))
        if (test(namespace)) return namespace
      }
      return undefined
    } finally {
      db.close()
    }
  }

  /** Reports whether a partition is one of the last two of its day. */
  isRecent(id: PartitionId): boolean {
    const { day, part } = parsePartitionId(id)
    const last = this.#lastPart.get(day)
    return last === part || last === part + 1
  }

  all(): readonly PartitionWriter[] {
    return [...this.#open.values(), ...this.#sealed]
  }

  nextSealed(): PartitionWriter | undefined {
    return this.#sealed[0]
  }

  /** Returns a partition with room for lines of a day. @param isBusy whether one must stay open */
  of(day: number, count: number, isBusy: (partition: PartitionWriter) => boolean): PartitionWriter {
    let partition = this.#open.get(day)
    if (partition === undefined) {
      this.#closeLeastUsed(isBusy)
      partition = this.#unseal(day) ?? this.#reopen(day) ?? this.#create(day)
    }
    if (partition.lines > 0 && (partition.room < count || partition.bytes >= this.#maxBytes)) {
      this.#seal(partition)
      partition = this.#create(day)
    }
    this.#open.delete(day)
    this.#open.set(day, partition)
    return partition
  }

  /** Closes the partitions of days before `day`, after optimizing those with many new lines. */
  closeBefore(day: number, isBusy: (partition: PartitionWriter) => boolean): void {
    for (const partition of [...this.#open.values()]) {
      if (partition.day >= day || isBusy(partition)) continue
      if (partition.isMostlyNew) this.#seal(partition)
      else this.close(partition)
    }
  }

  close(partition: PartitionWriter): void {
    if (this.#open.get(partition.day) === partition) this.#open.delete(partition.day)
    this.#sealed = this.#sealed.filter(other => other !== partition)
    partition.close()
  }

  closeId(id: PartitionId): void {
    for (const partition of this.all()) if (partition.id === id) this.close(partition)
  }

  delete(id: PartitionId): void {
    this.closeId(id)
    for (const file of partitionFiles(this.#folder, id)) rmSync(file, { force: true })
  }

  /** Returns the sealed partition of a day, if lines arrive late. */
  #unseal(day: number): PartitionWriter | undefined {
    const id = partitionId(day, this.#lastPart.get(day) ?? 0)
    const partition = this.#sealed.find(sealed => sealed.id === id)
    this.#sealed = this.#sealed.filter(sealed => sealed !== partition)
    return partition
  }

  #reopen(day: number): PartitionWriter | undefined {
    const id = partitionId(day, this.#lastPart.get(day) ?? 0)
    return existsSync(partitionFile(this.#folder, id)) ? new PartitionWriter(this.#folder, id) : undefined
  }

  #create(day: number): PartitionWriter {
    // Numbers are not reused: readers may still have a deleted partition open under its number.
    const part = (this.#lastPart.get(day) ?? -1) + 1
    const partition = PartitionWriter.create(this.#folder, partitionId(day, part))
    this.#lastPart.set(day, part)
    return partition
  }

  #closeLeastUsed(isBusy: (partition: PartitionWriter) => boolean): void {
    for (const partition of this.#open.values()) {
      if (this.#open.size < maxOpen) return
      if (!isBusy(partition)) this.close(partition)
    }
  }

  #seal(partition: PartitionWriter): void {
    this.#open.delete(partition.day)
    this.#sealed = [...this.#sealed, partition]
  }
}
