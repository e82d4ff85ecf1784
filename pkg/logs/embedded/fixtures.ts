import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogRecord } from '../record.ts'
import type { LogStore } from '../store.ts'
import { type EmbeddedSettings, openEmbeddedStores } from './embedded-store.ts'
import type { NamespaceRule } from './namespace-rules.ts'
import type { Retention } from './write/retention.ts'

/** UTC day of most test lines, since 1970. The current day in tests is three days later. */
export const testDay = 20_000
export const testDayNs = BigInt(testDay) * 86_400_000_000_000n
const nowMs = (testDay + 3) * 86_400_000

export function line(log: string, more: Partial<LogRecord> = {}): LogRecord {
  const origin = { namespace: 'ns', pod: 'pod', container: 'c', host: '', dockerId: '' }
  return { timeNs: testDayNs, log, ...origin, ...more }
}

export type TestSettings = Partial<Omit<EmbeddedSettings<string>, 'stores'>> & {
  readonly retention?: Retention
  readonly namespaces?: readonly NamespaceRule[]
}

/** Opens one embedded store. Its error reports are printed unless `settings.report` is set. */
export async function openTestStore(folder: string, settings: TestSettings = {}): Promise<LogStore> {
  const { retention = { days: 7, bytes: 1e9 }, namespaces = [], ...more } = settings
  const { stores } = await openEmbeddedStores({
    stores: { lines: { folder, retention, namespaces } },
    memoryBytes: 128 * 1024 * 1024,
    now: () => nowMs,
    report: (message, error) => console.error(message, error),
    ...more,
  })
  return stores.lines
}

/** Creates a temporary folder before each test, and removes it afterwards. */
export function useFolder(): () => string {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kapis-logs-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))
  return () => folder
}

/** Returns the texts of all lines, oldest first. */
export async function readAll(store: LogStore): Promise<readonly string[]> {
  const found: string[] = []
  for (let after = ''; ; ) {
    const start = after === '' ? { from: 0 } : { after }
    const filter = { scope: 'everything' as const }
    const page = { filter, order: 'asc' as const, size: 5000, start, withTotal: false }
    const { hits } = await store.query(page, { timeoutMs: 30_000 })
    const last = hits.at(-1)
    if (last === undefined) return found
    found.push(...hits.map(({ record }) => record.log))
    after = last.cursor
  }
}
