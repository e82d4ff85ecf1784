import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDamage } from '../partition/schema.ts'

/** The bytes that have arrived for each namespace in a day, on disk. */
export type QuotaCounters = {
  /** Returns the counters of a day; discards those of other days. */
  readonly load: (day: number) => ReadonlyMap<string, number>
  readonly save: (day: number, bytes: ReadonlyMap<string, number>) => void
  readonly close: () => void
}

/** Its name is not that of a partition. */
export const countersFile = 'quotas.db'

/**
 * Opens the counters of a folder. They survive a crash of the process. A power failure may lose
 * those of the last seconds: a sync to disk for each batch would cost too much.
 *
 * @param report called for a damaged file, which is replaced by an empty one
 */
export function openQuotaCounters(
  folder: string,
  report: (message: string, error: unknown) => void,
): QuotaCounters {
  const file = join(folder, countersFile)
  let counters: QuotaCounters | undefined

  /** Damage may be detected at any use. Lines must be stored nevertheless. */
  function use<T>(work: (counters: QuotaCounters) => T): T {
    try {
      counters ??= open(file)
      return work(counters)
    } catch (error) {
      if (!isDamage(error)) throw error
      report(`${file} is damaged; the quotas of namespaces start again at zero`, error)
      counters?.close()
      // Opened again by the next use if the file cannot be replaced now.
      counters = undefined
      for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
      counters = open(file)
      return work(counters)
    }
  }

  use(() => undefined)
  return {
    load: day => use(opened => opened.load(day)),
    save: (day, bytes) => use(opened => opened.save(day, bytes)),
    close: () => counters?.close(),
  }
}

function open(file: string): QuotaCounters {
  const db = openDatabase(file)
  const read = db.prepare('SELECT namespace, bytes FROM quota WHERE day = ?')
  const forget = db.prepare('DELETE FROM quota WHERE day <> ?')
  const write = db.prepare('INSERT OR REPLACE INTO quota (day, namespace, bytes) VALUES (?, ?, ?)')
  return {
    load(day) {
      forget.run(day)
      return new Map(read.all(day).map(({ namespace, bytes }) => [String(namespace), Number(bytes)]))
    },
    save(day, bytes) {
      if (bytes.size === 0) return
      db.exec('BEGIN')
      try {
        for (const [namespace, count] of bytes) write.run(day, namespace, count)
        db.exec('COMMIT')
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK')
        throw error
      }
    },
    close: () => db.close(),
  }
}

function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 })
  try {
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS quota (
        day INTEGER NOT NULL, namespace TEXT NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (day, namespace)
      ) WITHOUT ROWID`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
