import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { insufficientStorage, Status, unavailable } from '../../../apierrors/status.ts'
import { makeFolders } from '../../../files/make-folders.ts'
import type { LogRecord } from '../../record.ts'
import type { AppendResult } from '../../store.ts'
import { dayMs, dayOf } from '../partition/day.ts'
import {
  type PartitionId,
  parsePartitionId,
  partitionId,
  partitionsAmong,
} from '../partition/partition-id.ts'
import { PartitionWriter } from '../partition/partition-writer.ts'
import { DamagedError, partitionFile, partitionFiles, sqliteCode } from '../partition/schema.ts'
import { setPartitionAside } from '../partition/set-aside.ts'
import { createRecentBatches } from './recent-batches.ts'
import { findExpired, firstKeptDay, type Retention, rejectionOf } from './retention.ts'

export type StoreSettings = { readonly folder: string; readonly retention: Retention }

/** Committed lines of a partition: from number `from` up to but not including `to`. */
export type Committed = { readonly partition: PartitionId; readonly from: number; readonly to: number }

export type Report = (message: string, error?: unknown) => void

const rememberedBatches = 4096
const mostOpen = 4
const partitionBytes = { min: 16 * 1024 * 1024, max: 1024 * 1024 * 1024 }
// The last lines of a day arrive with a delay.
const lateMs = 3_600_000

/**
 * All writes to a store: appends in transactions, deletes expired partitions, and sets damaged ones
 * aside.
 */
export class StoreWriter {
  readonly #folder: string
  readonly #retention: Retention
  readonly #report: Report
  readonly #recent = createRecentBatches(rememberedBatches)
  /** By day; the least recently used first. */
  readonly #open = new Map<number, PartitionWriter>()
  /** The number of each day's last partition. */
  readonly #lastPart = new Map<number, number>()
  /** Complete partitions whose indexes are to be optimized. */
  #sealed: PartitionWriter[] = []
  /** The partition with an open transaction, and the batches in it. */
  readonly #changed = new Map<PartitionWriter, string[]>()

  constructor({ folder, retention }: StoreSettings, report: Report) {
    this.#folder = folder
    this.#retention = retention
    this.#report = report
    makeFolders(folder)
    const names = readdirSync(folder)
    const earlier = names.filter(isOfEarlierFormat).sort()
    if (earlier.length > 0) {
      report(
        `${folder} has logs in the format of an earlier version, which are not read; a downgrade finds them again, otherwise delete: ${earlier.join(' ')}`,
      )
    }
    for (const name of names) {
      // The process ended while it was made.
      if (name.endsWith('.db.new')) rmSync(`${folder}/${name}`)
    }
    for (const id of this.#partitions()) {
      const { day, part } = parsePartitionId(id)
      this.#lastPart.set(day, part)
    }
    this.#rememberBatches()
  }

  /**
   * Adds lines to the open transaction; `commit` makes them durable.
   *
   * @param batch its name
   * @throws Status 503, 507; then `rollback` must be called
   */
  append(records: readonly LogRecord[], batch: string, nowMs: number): AppendResult {
    const firstDay = firstKeptDay(this.#retention, nowMs)
    const byDay = new Map<number, LogRecord[]>()
    const rejected: { index: number; reason: string }[] = []
    for (const [index, record] of records.entries()) {
      const reason = rejectionOf(record.timeNs, firstDay)
      if (reason !== undefined) rejected.push({ index, reason })
      else {
        const day = dayOf(record.timeNs)
        const lines = byDay.get(day)
        if (lines === undefined) byDay.set(day, [record])
        else lines.push(record)
      }
    }
    let isNew = false
    for (const [day, lines] of byDay) {
      const key = `${day} ${batch}`
      if (this.#recent.has(key)) continue
      isNew = true
      this.#guard(() => {
        const partition = this.#partitionOf(day, lines.length)
        const batches = this.#changed.get(partition) ?? []
        this.#changed.set(partition, batches)
        partition.add(lines, batch)
        batches.push(key)
        this.#recent.add(key)
      })
    }
    return { duplicate: !isNew && byDay.size > 0, rejected }
  }

  /** @throws Status 503, 507; then `rollback` must follow */
  commit(): readonly Committed[] {
    return this.#guard(() => {
      const committed: Committed[] = []
      for (const partition of [...this.#changed.keys()]) {
        const range = partition.commit()
        if (range !== undefined) committed.push({ partition: partition.id, ...range })
        this.#changed.delete(partition)
      }
      return committed
    })
  }

  /** Forgets all that was appended since the last commit. */
  rollback(): void {
    for (const [partition, batches] of this.#changed) {
      for (const key of batches) this.#recent.delete(key)
      // Its memory is loaded again when it is opened.
      this.#close(partition)
    }
    this.#changed.clear()
  }

  /**
   * Does about 10 ms of background work.
   *
   * @returns whether there is more
   */
  maintain(): boolean {
    const [partition] = this.#sealed
    if (partition === undefined) return false
    try {
      if (partition.optimize()) return true
      partition.checkpoint()
      this.#close(partition)
    } catch (error) {
      this.#close(partition)
      this.#failed(error)
    }
    return this.#sealed.length > 0
  }

  /** Deletes expired partitions, and closes those of earlier days. */
  tidy(nowMs: number): void {
    const today = Math.floor((nowMs - lateMs) / dayMs)
    for (const partition of [...this.#open.values()]) {
      if (partition.day >= today || this.#changed.has(partition)) continue
      if (partition.isMostlyNew) this.#seal(partition)
      else this.#close(partition)
    }
    const stored = this.#partitions().map(id => ({ id, bytes: bytesOf(this.#folder, id) }))
    for (const id of findExpired(stored, this.#retention, nowMs)) {
      const { day } = parsePartitionId(id)
      for (const partition of [this.#open.get(day), ...this.#sealed]) {
        if (partition?.id === id) this.#close(partition)
      }
      for (const file of partitionFiles(this.#folder, id)) rmSync(file, { force: true })
    }
  }

  /** Moves a damaged partition out of the way. */
  setAside(id: PartitionId, error: unknown): void {
    if (!this.#partitions().includes(id)) return
    for (const partition of [...this.#open.values(), ...this.#sealed]) {
      if (partition.id === id) this.#close(partition)
    }
    const target = setPartitionAside(this.#folder, id)
    this.#report(`partition ${id} of the log store is damaged; it was moved to ${target}`, error)
  }

  close(): void {
    for (const partition of [...this.#open.values(), ...this.#sealed]) this.#close(partition)
  }

  /** The partition for this many lines of a day. */
  #partitionOf(day: number, count: number): PartitionWriter {
    let partition = this.#open.get(day)
    if (partition === undefined) {
      this.#closeLeastUsed()
      partition = this.#unseal(day) ?? this.#reopen(day) ?? this.#create(day)
    }
    if (partition.lines > 0 && (partition.room < count || partition.bytes >= this.#maxBytes())) {
      this.#seal(partition)
      partition = this.#create(day)
    }
    this.#open.delete(day)
    this.#open.set(day, partition)
    return partition
  }

  /** Lines may arrive for a day that was considered complete. */
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
    // Numbers are never reused: readers may still know a deleted partition by its number.
    const part = (this.#lastPart.get(day) ?? -1) + 1
    const partition = PartitionWriter.create(this.#folder, partitionId(day, part))
    this.#lastPart.set(day, part)
    return partition
  }

  #maxBytes(): number {
    // Retention deletes whole partitions, so each must be a small part of the total.
    const share = this.#retention.bytes / 16
    return Math.min(Math.max(share, partitionBytes.min), partitionBytes.max)
  }

  #closeLeastUsed(): void {
    for (const partition of this.#open.values()) {
      if (this.#open.size < mostOpen) return
      if (!this.#changed.has(partition)) this.#close(partition)
    }
  }

  #seal(partition: PartitionWriter): void {
    this.#open.delete(partition.day)
    this.#sealed.push(partition)
  }

  #close(partition: PartitionWriter): void {
    if (this.#open.get(partition.day) === partition) this.#open.delete(partition.day)
    this.#sealed = this.#sealed.filter(other => other !== partition)
    partition.close()
  }

  #partitions(): readonly PartitionId[] {
    return partitionsAmong(readdirSync(this.#folder))
  }

  #rememberBatches(): void {
    const names: string[] = []
    for (const id of this.#partitions().toReversed()) {
      const { day, part } = parsePartitionId(id)
      if (names.length >= rememberedBatches) break
      if (this.#lastPart.get(day) !== part && this.#lastPart.get(day) !== part + 1) continue
      try {
        const partition = new PartitionWriter(this.#folder, id)
        names.push(...partition.batches().map(name => `${day} ${name}`))
        partition.close()
      } catch (error) {
        this.#failed(error)
      }
    }
    for (const name of names.slice(0, rememberedBatches).reverse()) this.#recent.add(name)
  }

  #guard<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (error instanceof DamagedError) {
        this.rollback()
        this.#failed(error)
      }
      throw toStatus(error)
    }
  }

  #failed(error: unknown): void {
    if (error instanceof DamagedError) this.setAside(error.partition, error)
    else this.#report('maintenance of the log store failed', error)
  }
}

/** Files of versions before SQLite: a manifest, write-ahead logs and a folder for each day. */
function isOfEarlierFormat(name: string): boolean {
  return /^(manifest\.json|\d{10}\.wal|\d{4}-\d{2}-\d{2})$/.test(name)
}

function bytesOf(folder: string, id: PartitionId): number {
  const sizes = partitionFiles(folder, id).map(file => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

const [ioError, full] = [10, 13]
// SQLITE_IOERR_WRITE and SQLITE_IOERR_SHMSIZE: how SQLite reports a quota or a limit of file size.
const noRoom = new Set([ioError | (3 << 8), ioError | (19 << 8)])

/** 507 while the disk is full, 503 for other failures of the disk. */
function toStatus(error: unknown): Status {
  if (error instanceof Status) return error
  if (sqliteCode(error) === full || isNoRoom(error)) {
    return insufficientStorage('the log volume is full; the batch was not stored', error)
  }
  return unavailable('failed to write to the log store', error)
}

function isNoRoom(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error) return noRoom.has(Number(error.errcode))
  return 'code' in error && ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(String(error.code))
}
