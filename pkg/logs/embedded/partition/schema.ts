import { renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BlockError } from './block.ts'
import { type PartitionId, partitionExtension } from './partition-id.ts'

// ASCII "Kapi": identifies the file format to `file`, `sqlite3` and openPartition.
const applicationId = 0x4b617069
const version = 1
const pageBytes = 8192

/**
 * - `stream`: origins of lines, as JSON.
 * - `block`: lines, many per row (see block.ts).
 * - `words`: full-text index of the lines; the row ID is the line number. FTS5 does not store the
 * text (`content=''`).
 * - `batch`: names of recent batches, so that a retried batch is not stored twice.
 */
const schema = `
  CREATE TABLE stream (id INTEGER PRIMARY KEY, origin TEXT NOT NULL);
  CREATE TABLE block (
    first INTEGER PRIMARY KEY, count INTEGER NOT NULL, first_time INTEGER NOT NULL, last_time INTEGER NOT NULL,
    chars INTEGER NOT NULL, head BLOB NOT NULL, fields BLOB, text BLOB NOT NULL
  );
  CREATE TABLE batch (id INTEGER PRIMARY KEY, name BLOB NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5(text, content='', columnsize=0, detail=full, tokenize='ascii');
  INSERT INTO words(words, rank) VALUES ('automerge', 16), ('crisismerge', 40), ('pgsz', 8000);`

/** A file that is damaged or is not a partition. */
export class DamagedError extends Error {
  readonly partition: PartitionId
  constructor(partition: PartitionId, cause: unknown) {
    super(`partition ${partition} is damaged: ${cause instanceof Error ? cause.message : cause}`, { cause })
    this.name = 'DamagedError'
    this.partition = partition
  }
}

const [corrupt, notADatabase] = [11, 26]

/** Returns whether an error of SQLite reports that the file is damaged, or not a database. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === corrupt || code === notADatabase
}

/** Runs `work`. Converts its errors about a damaged file to DamagedError. */
export function noticeDamage<T>(partition: PartitionId, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (isDamage(error) || error instanceof BlockError) throw new DamagedError(partition, error)
    throw error
  }
}

/** Returns the primary result code of SQLite; undefined for other errors. */
export function sqliteCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return typeof code === 'number' ? code & 0xff : undefined
}

export function partitionFile(folder: string, id: PartitionId): string {
  return join(folder, id + partitionExtension)
}

/** Returns the files of a partition. Those for the write-ahead log exist only while it is open. */
export function partitionFiles(folder: string, id: PartitionId): readonly string[] {
  return ['', '-wal', '-shm'].map(end => partitionFile(folder, id) + end)
}

/** Returns the total size of the files of a partition. */
export function partitionSize(folder: string, id: PartitionId): number {
  const sizes = partitionFiles(folder, id).map(file => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Creates an empty partition, renamed when complete so that readers never open a partial file. */
export function createPartition(folder: string, id: PartitionId): void {
  const file = `${partitionFile(folder, id)}.new`
  rmSync(file, { force: true })
  const db = new DatabaseSync(file)
  try {
    // Incremental auto-vacuum lets PartitionWriter.optimize return free pages to the file system.
    db.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = ${applicationId};
      PRAGMA user_version = ${version}; BEGIN; ${schema} COMMIT; PRAGMA journal_mode = WAL`)
  } finally {
    db.close()
  }
  renameSync(file, partitionFile(folder, id))
}

/** Opens a partition of this format. @param cacheBytes of SQLite's pages @throws DamagedError */
export function openPartition(
  folder: string,
  id: PartitionId,
  { readOnly, cacheBytes }: { readonly readOnly: boolean; readonly cacheBytes: number },
): DatabaseSync {
  const file = partitionFile(folder, id)
  return noticeDamage(id, () => {
    const db = new DatabaseSync(file, { readOnly, timeout: 5000 })
    try {
      db.exec(`PRAGMA cache_size = -${Math.floor(cacheBytes / 1024)}; PRAGMA synchronous = FULL;
        PRAGMA wal_autocheckpoint = 2000`)
      const { application_id: application } = db.prepare('PRAGMA application_id').get() ?? {}
      const { user_version: found } = db.prepare('PRAGMA user_version').get() ?? {}
      if (application !== applicationId || found !== version) {
        throw new DamagedError(
          id,
          `the file has version ${application}.${found}, not ${applicationId}.${version}`,
        )
      }
      return db
    } catch (error) {
      db.close()
      throw error
    }
  })
}
