import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import type { LogStore } from '../store.ts'
import { line, openTestStore, readAll, testDayNs, useFolder } from './fixtures.ts'

const dayNs = 86_400_000_000_000n

describe('a store with unusable files', () => {
  const folder = useFolder()
  let reports: string[]
  let store: LogStore | undefined
  beforeEach(() => {
    reports = []
  })
  afterEach(() => store?.close())

  async function open(): Promise<LogStore> {
    store = await openTestStore(folder(), {
      report: (message, error) => reports.push(`${message} (${error instanceof Error ? error.message : ''})`),
    })
    return store
  }

  /** Stores lines of two days, and damages the file of the first day. */
  async function damage(how: (file: string) => void): Promise<void> {
    const opened = await open()
    const records = Array.from({ length: 3000 }, (_, i) => [
      line(`first ${i}`, { timeNs: testDayNs + BigInt(i) }),
      line(`second ${i}`, { timeNs: testDayNs + dayNs + BigInt(i) }),
    ])
    await opened.append({ records: records.flat() })
    await opened.close()
    how(join(folder(), '2024-10-04.000.db'))
  }

  const damages: Readonly<Record<string, (file: string) => void>> = {
    'is not a SQLite database': file => writeFileSync(file, 'what someone put there'.repeat(500)),
    'belongs to another program': file => {
      const db = new DatabaseSync(file)
      db.exec('PRAGMA application_id = 7')
      db.close()
    },
    'has a newer format version': file => {
      const db = new DatabaseSync(file)
      db.exec('PRAGMA user_version = 2')
      db.close()
    },
    'has changed blocks': file => {
      const db = new DatabaseSync(file)
      db.exec(`UPDATE block SET text = zeroblob(length(text))`)
      db.close()
    },
    'has changed pages': file => {
      const bytes = readFileSync(file)
      bytes.fill(0x5a, 8192)
      writeFileSync(file, bytes)
    },
  }
  for (const [what, how] of Object.entries(damages)) {
    it(`moves a file aside that ${what}, logs it, and continues without the file`, async () => {
      await damage(how)
      const opened = await open()
      const texts = await untilRead(opened)
      expect(texts).to.have.length(3000)
      expect(texts.every(text => text.startsWith('second'))).to.equal(true)
      expect(readdirSync(join(folder(), 'set-aside'))).to.deep.equal(['2024-10-04.000.db'])
      const [report] = reports
      expect(report).to.match(
        /^partition 2024-10-04\.000 of the log store is damaged; it was moved to .*set-aside\/2024-10-04\.000\.db \(partition 2024-10-04\.000 is damaged: .+\)$/,
      )
      await opened.append({ records: [line('again')] })
      expect((await readAll(opened))[0]).to.equal('again')
      expect(reports).to.deep.equal([report])
    })
  }

  /** Reads all lines. Repeats queries that fail with 503 because they found the damage. */
  async function untilRead(opened: LogStore): Promise<readonly string[]> {
    for (;;) {
      try {
        return await readAll(opened)
      } catch (error) {
        expect(error).to.be.instanceOf(Status).with.property('code', 503)
        await sleep(50)
      }
    }
  }
})
