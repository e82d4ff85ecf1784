import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { formatJson } from '../../field-values.ts'
import type { LogRecord } from '../../record.ts'
import {
  type Block,
  BlockBuilder,
  decodeColumns,
  decodeText,
  type EncodedBlock,
  fits,
  isLarge,
  isSmall,
} from './block.ts'
import { timeInDay } from './day.ts'
import { indexText } from './index-text.ts'
import { type PartitionId, parsePartitionId } from './partition-id.ts'
import { createPartition, noticeDamage, openPartition, partitionSize } from './schema.ts'
import { streamKey, streamOf } from './stream.ts'

const cacheBytes = 32 * 1024 * 1024
/** Maximum number of lines of a partition: cursors have 20 bits for the line. */
export const maxLines = 2 ** 20
// Maximum number of streams: readers and writers keep them in memory.
const maxStreams = 50_000
const maxSmallBlocks = 32
const rememberedBatches = 4096
const pagesAtOnce = 100

type Statements = Readonly<
  Record<'stream' | 'words' | 'block' | 'batch' | 'forget' | 'read' | 'delete', StatementSync>
>

export class PartitionWriter {
  readonly id: PartitionId
  readonly day: number
  readonly #folder: string
  readonly #db: DatabaseSync
  readonly #statements: Statements
  readonly #streams = new Map<string, number>()
  readonly #pending = new BlockBuilder()
  /** Small blocks at the end, which may still be merged. */
  #small: Extent[] = []
  /** Number of committed lines. `#lines` also counts those of the open transaction. */
  #committed: number
  #lines: number
  readonly #linesBefore: number

  /** @throws DamagedError */
  constructor(folder: string, id: PartitionId) {
    this.id = id
    this.day = parsePartitionId(id).day
    this.#folder = folder
    this.#db = openPartition(folder, id, { readOnly: false, cacheBytes })
    try {
      this.#statements = noticeDamage(id, () => prepare(this.#db))
      this.#committed = this.#lines = this.#linesBefore = noticeDamage(id, () => this.#load())
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** Reads the streams and the small blocks at the end. @returns the number of lines */
  #load(): number {
    for (const { id: stream, origin } of this.#db.prepare('SELECT id, origin FROM stream').iterate()) {
      this.#streams.set(streamKey(JSON.parse(String(origin))), Number(stream))
    }
    let lines: number | undefined
    const blocks = this.#db.prepare('SELECT first, count, chars FROM block ORDER BY first DESC')
    for (const row of blocks.iterate()) {
      const block = { first: Number(row.first), count: Number(row.count), chars: Number(row.chars) }
      lines ??= block.first + block.count
      if (!isSmall(block)) break
      this.#small.unshift(block)
    }
    return lines ?? 0
  }

  static create(folder: string, id: PartitionId): PartitionWriter {
    createPartition(folder, id)
    return new PartitionWriter(folder, id)
  }

  /** Number of lines, including the open transaction. */
  get lines(): number {
    return this.#lines
  }

  /** Number of further lines that fit. */
  get room(): number {
    return this.#streams.size < maxStreams ? maxLines - this.#lines : 0
  }

  /** Whether at least a tenth of the lines was added since the partition was opened. */
  get isMostlyNew(): boolean {
    return 10 * (this.#lines - this.#linesBefore) >= this.#lines
  }

  get bytes(): number {
    return partitionSize(this.#folder, this.id)
  }

  /** Names of recent batches, the newest first. */
  batches(): readonly string[] {
    const rows = this.#db.prepare('SELECT name FROM batch ORDER BY id DESC').all()
    return rows.map(({ name }) => Buffer.from(name as Uint8Array).toString('base64'))
  }

  /** Adds lines of the partition's day, in a transaction. @param batch its name, in base64 */
  add(records: readonly LogRecord[], batch: string): void {
    noticeDamage(this.id, () => this.#add(records, batch))
  }

  #add(records: readonly LogRecord[], batch: string): void {
    if (!this.#db.isTransaction) this.#db.exec('BEGIN IMMEDIATE')
    for (const record of records) {
      const stream = this.#streamId(record)
      this.#statements.words.run(this.#lines, indexText(record, stream))
      const fields = record.fields === undefined ? '' : formatJson(record.fields)
      this.#pending.add(timeInDay(record.timeNs), stream, record.log, fields)
      this.#lines += 1
      if (this.#pending.isFull) this.#writePending()
    }
    const { lastInsertRowid: id } = this.#statements.batch.run(Buffer.from(batch, 'base64'))
    this.#statements.forget.run(Number(id) - rememberedBatches)
  }

  /** Commits the transaction. @returns the range of its lines; undefined if it is empty */
  commit(): { readonly from: number; readonly to: number } | undefined {
    if (!this.#db.isTransaction) return undefined
    noticeDamage(this.id, () => {
      this.#writePending()
      this.#mergeSmall()
      this.#db.exec('COMMIT')
    })
    const range = { from: this.#committed, to: this.#lines }
    this.#committed = this.#lines
    return range
  }

  /**
   * Performs a step of the maintenance after the last write of a day: merges the index, then
   * returns free pages to the file system.
   *
   * @returns whether more steps are needed
   */
  optimize(): boolean {
    return noticeDamage(this.id, () => {
      const count = () => Number(this.#db.prepare('SELECT total_changes() AS count').get()?.count)
      const before = count()
      // Not synchronized to disk, because losing a merge is harmless. The negative number merges
      // segments of all levels; 100 pages take about 10 ms.
      this.#db.exec(`PRAGMA synchronous = NORMAL;
        INSERT INTO words(words, rank) VALUES ('merge', -100);
        PRAGMA synchronous = FULL`)
      return count() - before >= 2 || this.#giveBack()
    })
  }

  /** Returns free pages to the file system. @returns whether there are more */
  #giveBack(): boolean {
    const free = () => Number(this.#db.prepare('PRAGMA freelist_count').get()?.freelist_count)
    const before = free()
    // `all` steps through all pages; `exec` would free only one.
    this.#db.prepare(`PRAGMA incremental_vacuum(${pagesAtOnce})`).all()
    const after = free()
    return after > 0 && after < before
  }

  /** Copies the write-ahead log to the database and truncates it. */
  checkpoint(): void {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  /** Closes the database. An open transaction is rolled back. */
  close(): void {
    this.#db.close()
  }

  #streamId(record: LogRecord): number {
    const stream = streamOf(record)
    const key = streamKey(stream)
    const known = this.#streams.get(key)
    if (known !== undefined) return known
    const id = this.#streams.size
    this.#statements.stream.run(id, JSON.stringify(stream))
    this.#streams.set(key, id)
    return id
  }

  #writePending(): void {
    if (this.#pending.count === 0) return
    const first = this.#lines - this.#pending.count
    const block = this.#pending.build()
    this.#writeBlock(first, block)
    if (isSmall(block)) this.#small.push({ first, count: block.count, chars: block.chars })
    else this.#small = []
  }

  #writeBlock(first: number, { head, fields, text, ...block }: EncodedBlock): void {
    const numbers = [first, block.count, block.firstTime, block.lastTime, block.chars]
    const values: SQLInputValue[] = [...numbers, head, fields, text]
    this.#statements.block.run(...values)
  }

  /** Merges small blocks at the end. They result from small batches and compress badly. */
  #mergeSmall(): void {
    const all = this.#small
    if (!fits(sumOf(all))) {
      const last = all.slice(-1)
      this.#merge(all.slice(0, -1))
      this.#small = last
    } else if (all.length >= maxSmallBlocks || isLarge(sumOf(all))) {
      this.#merge(all)
      const merged = { first: all[0]?.first ?? 0, ...sumOf(all) }
      this.#small = isSmall(merged) ? [merged] : []
    }
  }

  #merge(blocks: readonly Extent[]): void {
    if (blocks.length < 2) return
    const builder = new BlockBuilder()
    for (const { first, count, chars } of blocks) {
      const { head, fields, text } = this.#statements.read.get(first) ?? {}
      const columns = decodeColumns(head as Uint8Array, count, fields !== null)
      const texts = decodeText(text as Uint8Array, chars)
      const fieldTexts = fields === null ? '' : decodeText(fields as Uint8Array, chars)
      for (let i = 0; i < count; i += 1) {
        builder.add(
          columns.times[i] ?? 0,
          columns.streams[i] ?? 0,
          texts.slice(columns.ends[i - 1] ?? 0, columns.ends[i]),
          fieldTexts.slice(columns.fieldEnds?.[i - 1] ?? 0, columns.fieldEnds?.[i] ?? 0),
        )
      }
      this.#statements.delete.run(first)
    }
    this.#writeBlock(blocks[0]?.first ?? 0, builder.build())
  }
}

type Extent = Pick<Block, 'first' | 'count' | 'chars'>

function sumOf(blocks: readonly Extent[]): Omit<Extent, 'first'> {
  const sum = { count: 0, chars: 0 }
  for (const { count, chars } of blocks) {
    sum.count += count
    sum.chars += chars
  }
  return sum
}

function prepare(db: DatabaseSync): Statements {
  return {
    stream: db.prepare('INSERT INTO stream VALUES (?, ?)'),
    words: db.prepare('INSERT INTO words(rowid, text) VALUES (?, ?)'),
    block: db.prepare('INSERT INTO block VALUES (?, ?, ?, ?, ?, ?, ?, ?)'),
    batch: db.prepare('INSERT INTO batch(name) VALUES (?)'),
    forget: db.prepare('DELETE FROM batch WHERE id <= ?'),
    read: db.prepare('SELECT head, fields, text FROM block WHERE first = ?'),
    delete: db.prepare('DELETE FROM block WHERE first = ?'),
  }
}
