import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { LRUCache } from 'lru-cache'
import { type Bitmap, emptyBitmap, setBit } from './bitmap.ts'
import { type Block, BlockError, type Columns, decodeColumns, decodeText, isSmall } from './block.ts'
import { type PartitionId, parsePartitionId } from './partition-id.ts'
import { DamagedError, noticeDamage, openPartition } from './schema.ts'
import type { Stream } from './stream.ts'

/** Caches that all partitions share, each with a limit in bytes. */
export type ReaderCaches = {
  readonly columns: LRUCache<string, Columns>
  readonly texts: LRUCache<string, string>
  /** Line numbers that a full-text query found. */
  readonly lists: LRUCache<string, Uint32Array>
  /** Search results for a range of lines. */
  readonly results: LRUCache<string, object>
}

/** Lines from the number `from` up to but not including `to`. */
export type LineRange = { readonly from: number; readonly to: number }

type Statements = Readonly<
  Record<
    'version' | 'streams' | 'blocks' | 'head' | 'text' | 'fields' | 'list' | 'some' | 'count',
    StatementSync
  >
>
type Open = { readonly db: DatabaseSync; readonly statements: Statements; version: number }

// SQLite's page cache is small, because the kernel caches the file, too.
const cacheBytes = 2 * 1024 * 1024
type Row = ReturnType<StatementSync['get']>

let lastSerial = 0

/** Reads one partition. Its database is opened on demand and may be closed at any time. */
export class PartitionReader {
  readonly id: PartitionId
  readonly day: number
  readonly part: number
  /** Prefix of this reader's cache keys. Unlike file names, it is never reused. */
  readonly serial = ++lastSerial
  readonly streams: Stream[] = []
  #blocks: readonly Block[] = []
  readonly #folder: string
  readonly #caches: ReaderCaches
  #open: Open | undefined

  constructor(folder: string, id: PartitionId, caches: ReaderCaches) {
    this.id = id
    this.#folder = folder
    this.#caches = caches
    const { day, part } = parsePartitionId(id)
    this.day = day
    this.part = part
  }

  /** Blocks in ascending order of their lines. */
  get blocks(): readonly Block[] {
    return this.#blocks
  }

  get lines(): number {
    const last = this.#blocks.at(-1)
    return last === undefined ? 0 : last.first + last.count
  }

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Reads what was committed since the last call. @throws DamagedError */
  refresh(): void {
    this.#read(({ statements, version }) => {
      const now = Number(statements.version.get()?.data_version)
      if (now === version && this.#blocks.length > 0) return
      const kept = this.#blocks.slice(0, firstOfSmallEnd(this.#blocks))
      const last = kept.at(-1)
      const from = last === undefined ? 0 : last.first + last.count
      const added = statements.blocks.all(from).map(
        (row): Block => ({
          first: Number(row.first),
          count: Number(row.count),
          firstTime: Number(row.first_time),
          lastTime: Number(row.last_time),
          chars: Number(row.chars),
        }),
      )
      for (const { origin } of statements.streams.all(this.streams.length)) {
        this.streams.push(JSON.parse(String(origin)))
      }
      this.#blocks = [...kept, ...added]
      if (this.#open !== undefined) this.#open.version = now
    })
  }

  close(): void {
    this.#open?.db.close()
    this.#open = undefined
  }

  columns(block: Block): Columns {
    const key = `${this.serial} ${block.first} ${block.count}`
    let columns = this.#caches.columns.get(key)
    if (columns === undefined) {
      columns = this.#readColumns(block)
      this.#caches.columns.set(key, columns)
    }
    return columns
  }

  /** Returns all texts of a block, concatenated. @param isKept whether to cache them */
  text(block: Block, isKept: boolean): string {
    const key = `${this.serial} ${block.first} ${block.count}`
    const cached = this.#caches.texts.get(key)
    if (cached !== undefined) return cached
    const text = this.#readText(block, 'text')
    if (isKept) this.#caches.texts.set(key, text)
    return text
  }

  /** Returns the fields of all lines of a block as concatenated JSON; '' if no line has fields. */
  fields(block: Block): string {
    return this.#readText(block, 'fields')
  }

  /** Finds the lines of a range that match a full-text query; bit 0 is its first line. */
  find(query: string, range: LineRange): Bitmap {
    return this.#cached(`find ${range.from} ${range.to} ${query}`, () => {
      const bits = emptyBitmap(range.to - range.from)
      for (const line of this.#list('list', query, range)) setBit(bits, line - range.from)
      return bits
    })
  }

  /** Returns the lines before `to` that match a query; undefined for more than `limit`. */
  findFew(query: string, to: number, limit: number): Uint32Array | undefined {
    const lines = this.#cached(`few ${limit} ${to} ${query}`, () =>
      this.#list('some', query, { from: 0, to }, limit + 1),
    )
    return lines.length > limit ? undefined : lines
  }

  count(query: string, { from, to }: LineRange): number {
    return this.#read(({ statements }) => Number(statements.count.get(query, from, to - 1)?.count))
  }

  #cached(key: string, make: () => Uint32Array): Uint32Array {
    const whole = `${this.serial} ${key}`
    let value = this.#caches.lists.get(whole)
    if (value === undefined) {
      value = make()
      this.#caches.lists.set(whole, value)
    }
    return value
  }

  #list(by: 'list' | 'some', query: string, { from, to }: LineRange, limit?: number): Uint32Array {
    const values = [query, from, to - 1, ...(limit === undefined ? [] : [limit])]
    // One string with all numbers is several times faster to read than a row per number.
    const list = this.#read(({ statements }) => statements[by].get(...values)?.list)
    return typeof list === 'string' ? parseNumbers(list) : new Uint32Array(0)
  }

  #readColumns(block: Block): Columns {
    return this.#read(({ statements }) => this.#columnsOf(statements.head.get(block.first), block))
  }

  #readText(block: Block, of: 'text' | 'fields'): string {
    return this.#read(({ statements }) => {
      const row = statements[of].get(block.first)
      const compressed = row?.[of]
      if (!(compressed instanceof Uint8Array)) return ''
      const text = decodeText(compressed, Number(row?.chars))
      if (row?.first === block.first && row.count === block.count) return text
      const { ends, fieldEnds } = decodeRow(row)
      const offset = block.first - Number(row?.first)
      const column = of === 'text' ? ends : fieldEnds
      return text.slice(column?.[offset - 1] ?? 0, column?.[offset + block.count - 1])
    })
  }

  /** Returns the columns of a block from a row, which the writer may have merged. */
  #columnsOf(row: Row, block: Block): Columns {
    const columns = decodeRow(row)
    const offset = block.first - Number(row?.first)
    const end = offset + block.count
    if (!(end <= columns.times.length)) throw new DamagedError(this.id, 'lines are missing')
    if (block.count === columns.times.length) return columns
    return {
      times: columns.times.slice(offset, end),
      streams: columns.streams.slice(offset, end),
      ends: relative(columns.ends, offset, end),
      fieldEnds: columns.fieldEnds && relative(columns.fieldEnds, offset, end),
    }
  }

  #read<T>(work: (open: Open) => T): T {
    return noticeDamage(this.id, () => {
      this.#open ??= open(this.#folder, this.id)
      return work(this.#open)
    })
  }
}

function open(folder: string, id: PartitionId): Open {
  const db = openPartition(folder, id, { readOnly: true, cacheBytes })
  const block = (columns: string) =>
    db.prepare(`SELECT first, count, head, fields IS NOT NULL AS has_fields${columns} FROM block
      WHERE first <= ? ORDER BY first DESC LIMIT 1`)
  const found = 'FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?'
  const statements = {
    version: db.prepare('PRAGMA data_version'),
    streams: db.prepare('SELECT origin FROM stream WHERE id >= ? ORDER BY id'),
    blocks: db.prepare(
      'SELECT first, count, first_time, last_time, chars FROM block WHERE first >= ? ORDER BY first',
    ),
    head: block(''),
    text: block(', chars, text'),
    fields: block(', chars, fields'),
    list: db.prepare(`SELECT group_concat(rowid) AS list ${found}`),
    some: db.prepare(`SELECT group_concat(rowid) AS list FROM (SELECT rowid ${found} LIMIT ?)`),
    count: db.prepare(`SELECT count(*) AS count ${found}`),
  }
  return { db, statements, version: -1 }
}

function decodeRow(row: Row): Columns {
  const { count, head, has_fields: hasFields } = row ?? {}
  if (!(head instanceof Uint8Array)) throw new BlockError('a block is missing')
  return decodeColumns(head, Number(count), hasFields === 1)
}

/** Returns the index of the first block that may still be merged (see PartitionWriter). */
function firstOfSmallEnd(blocks: readonly Block[]): number {
  return blocks.findLastIndex(block => !isSmall(block)) + 1
}

function relative(ends: Uint32Array, from: number, to: number): Uint32Array {
  const start = ends[from - 1] ?? 0
  return ends.slice(from, to).map(end => end - start)
}

const [comma, zero] = [0x2c, 0x30]

function parseNumbers(list: string): Uint32Array {
  const numbers: number[] = []
  let number = 0
  for (let at = 0; at < list.length; at += 1) {
    const code = list.charCodeAt(at)
    if (code === comma) {
      numbers.push(number)
      number = 0
    } else number = number * 10 + code - zero
  }
  numbers.push(number)
  return Uint32Array.from(numbers)
}
