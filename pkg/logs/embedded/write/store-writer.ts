import { readdirSync, rmSync } from 'node:fs'
import { makeFolders } from '../../../files/make-folders.ts'
import type { LogRecord } from '../../record.ts'
import type { Rejection } from '../../rejection.ts'
import type { AppendResult } from '../../store.ts'
import { createRuleFinder, type NamespaceRule } from '../namespace-rules.ts'
import { dayMs, dayOf } from '../partition/day.ts'
import { type PartitionId, parsePartitionId } from '../partition/partition-id.ts'
import { PartitionWriter } from '../partition/partition-writer.ts'
import { DamagedError } from '../partition/schema.ts'
import { setPartitionAside } from '../partition/set-aside.ts'
import { createNamespaceExpiry, type NamespaceExpiry } from './namespace-expiry.ts'
import { OpenPartitions } from './open-partitions.ts'
import { openQuotaCounters } from './quota-counters.ts'
import { createQuotas, type Quotas } from './quotas.ts'
import { createRecentBatches } from './recent-batches.ts'
import { findExpired, firstKeptDay, type Retention, timeRejection } from './retention.ts'
import { toWriteError } from './write-error.ts'

export type StoreSettings = {
  readonly folder: string
  readonly retention: Retention
  readonly namespaces?: readonly NamespaceRule[]
}

/** Committed lines of a partition: from number `from` up to but not including `to`. */
export type CommittedLines = { readonly partition: PartitionId; readonly from: number; readonly to: number }

export type Report = (message: string, error?: unknown) => void

const rememberedBatches = 4096
// Partitions stay open this long after their day, because the last lines arrive late.
const lateMs = 3_600_000

/** Writes to a store: appends in transactions, deletes expired partitions, sets damaged aside. */
export class StoreWriter {
  readonly #folder: string
  readonly #retention: Retention
  readonly #report: Report
  readonly #ruleOf: (namespace: string) => NamespaceRule | undefined
  readonly #quotas: Quotas
  readonly #recent = createRecentBatches(rememberedBatches)
  readonly #partitions: OpenPartitions
  readonly #expiry: NamespaceExpiry
  /** Partitions to check for expiry by the retention of their namespaces, at time `nowMs`. */
  #candidates: { readonly ids: readonly PartitionId[]; readonly nowMs: number } = { ids: [], nowMs: 0 }
  /** Partitions with an open transaction, and the names of the batches in it. */
  readonly #changed = new Map<PartitionWriter, string[]>()

  constructor({ folder, retention, namespaces = [] }: StoreSettings, report: Report) {
    this.#folder = folder
    this.#retention = retention
    this.#report = report
    this.#ruleOf = createRuleFinder(namespaces)
    this.#expiry = createNamespaceExpiry(namespaces)
    makeFolders(folder)
    const hasQuotas = namespaces.some(({ quotaBytes }) => quotaBytes !== undefined)
    this.#quotas = createQuotas(namespaces, hasQuotas ? openQuotaCounters(folder, report) : undefined)
    for (const name of readdirSync(folder)) {
      // The process ended while it created this partition.
      if (name.endsWith('.db.new')) rmSync(`${folder}/${name}`)
    }
    this.#partitions = new OpenPartitions(folder, retention.bytes)
    this.#rememberBatches()
  }

  /**
   * Adds lines to the open transaction. `commit` makes them durable.
   *
   * @param batch name of the batch
   * @throws Status 503, 507; the caller must then call `rollback`
   */
  append(records: readonly LogRecord[], batch: string, nowMs: number): AppendResult {
    const byDay = new Map<number, LogRecord[]>()
    const rejected: Rejection[] = []
    for (const [index, record] of records.entries()) {
      const day = dayOf(record.timeNs)
      const rejection = this.#rejectionReason(record, index, `${day} ${batch}`, nowMs)
      if (rejection !== undefined) rejected.push({ index, ...rejection })
      else {
        const lines = byDay.get(day)
        if (lines === undefined) byDay.set(day, [record])
        else lines.push(record)
      }
    }
    const overQuota = rejected.filter(({ cause }) => cause === 'quota').map(({ index }) => index)
    let isNew = false
    for (const [day, lines] of byDay) {
      const key = `${day} ${batch}`
      if (this.#recent.has(key)) continue
      isNew = true
      this.#guard(() => {
        const partition = this.#partitions.of(day, lines.length, this.#isChanged)
        const batches = this.#changed.get(partition) ?? []
        this.#changed.set(partition, batches)
        partition.add(lines, batch)
        batches.push(key)
        this.#recent.add(key, new Set(overQuota))
      })
    }
    return { duplicate: !isNew && byDay.size > 0, rejected }
  }

  /** Commits the transaction. @throws Status 503, 507; the caller must then call `rollback` */
  commit(): readonly CommittedLines[] {
    return this.#guard(() => {
      const committed: CommittedLines[] = []
      // First, so that no stored line is left uncounted.
      this.#quotas.save()
      for (const partition of [...this.#changed.keys()]) {
        const range = partition.commit()
        if (range !== undefined) committed.push({ partition: partition.id, ...range })
        this.#changed.delete(partition)
      }
      this.#quotas.commit()
      return committed
    })
  }

  /** Discards everything that was appended since the last commit. */
  rollback(): void {
    for (const [partition, batches] of this.#changed) {
      for (const key of batches) this.#recent.delete(key)
      // The partition's in-memory state includes discarded lines. Reopening loads it from the file.
      this.#partitions.close(partition)
    }
    this.#changed.clear()
    this.#quotas.rollback()
  }

  /** Does about 10 ms of background work. @returns whether more work remains */
  maintain(): boolean {
    const partition = this.#partitions.nextSealed()
    if (partition === undefined) return this.#expireNext()
    try {
      if (partition.optimize()) return true
      partition.checkpoint()
      this.#partitions.close(partition)
    } catch (error) {
      this.#partitions.close(partition)
      this.#failed(error)
    }
    return this.#partitions.nextSealed() !== undefined || this.#candidates.ids.length > 0
  }

  /**
   * Deletes partitions beyond the retention of the store, and closes partitions of earlier days.
   * `maintain` deletes those in which the retention of every namespace has passed.
   */
  tidy(nowMs: number): void {
    this.#partitions.closeBefore(Math.floor((nowMs - lateMs) / dayMs), this.#isChanged)
    const stored = this.#partitions.listStored().map(id => ({ id, bytes: this.#partitions.sizeOf(id) }))
    for (const id of findExpired(stored, this.#retention, nowMs)) this.#partitions.delete(id)
    this.#candidates = { ids: this.#expiry.candidates(this.#partitions.listStored(), nowMs), nowMs }
  }

  /** Returns why a line is rejected, if it is. @param key day of the line and name of the batch */
  #rejectionReason(
    record: LogRecord,
    index: number,
    key: string,
    nowMs: number,
  ): Omit<Rejection, 'index'> | undefined {
    const days = this.#ruleOf(record.namespace)?.retentionDays ?? this.#retention.days
    const firstDay = firstKeptDay({ days: Math.min(days, this.#retention.days) }, nowMs)
    const late = timeRejection(record.timeNs, firstDay)
    if (late !== undefined) return { reason: late, cause: 'time' }
    // A retry must get the same result: its lines are not counted again, and those rejected before
    // are rejected again.
    const over = this.#recent.has(key)
      ? this.#recent.isRejected(key, index)
        ? this.#quotas.reasonOf(record.namespace)
        : undefined
      : this.#quotas.rejectionReason(record, nowMs)
    return over === undefined ? undefined : { reason: over, cause: 'quota' }
  }

  /** Deletes the next candidate if all its namespaces have expired. @returns whether more remain */
  #expireNext(): boolean {
    const { ids, nowMs } = this.#candidates
    const [id, ...rest] = ids
    if (id === undefined) return false
    this.#candidates = { ids: rest, nowMs }
    try {
      const find = (test: (namespace: string) => boolean) => this.#partitions.findNamespace(id, test)
      if (this.#expiry.isExpired(id, find, nowMs)) this.#partitions.delete(id)
    } catch (error) {
      this.#failed(error)
    }
    return rest.length > 0
  }

  /** Moves a damaged partition to the folder `set-aside` and reports it. */
  setAside(id: PartitionId, error: unknown): void {
    if (!this.#partitions.listStored().includes(id)) return
    this.#partitions.closeId(id)
    const target = setPartitionAside(this.#folder, id)
    this.#report(`partition ${id} of the log store is damaged; it was moved to ${target}`, error)
  }

  close(): void {
    for (const partition of this.#partitions.all()) this.#partitions.close(partition)
    this.#quotas.close()
  }

  readonly #isChanged = (partition: PartitionWriter): boolean => this.#changed.has(partition)

  #rememberBatches(): void {
    const names: string[] = []
    for (const id of this.#partitions.listStored().toReversed()) {
      const { day } = parsePartitionId(id)
      if (names.length >= rememberedBatches) break
      if (!this.#partitions.isRecent(id)) continue
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
      throw toWriteError(error)
    }
  }

  #failed(error: unknown): void {
    if (error instanceof DamagedError) this.setAside(error.partition, error)
    else this.#report('maintenance of the log store failed', error)
  }
}
