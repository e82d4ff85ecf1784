import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Status } from '../../status/status.ts'
import { parseQuery } from '../query-language/parse.ts'
import { createEmbeddedStore } from './embedded-store.ts'
import { dayNs } from './lines.ts'

// A process that takes in more than its memory may hold, asks for all of it, and tells how much memory that took at most.
// Usage: memory-fixtures.ts FOLDER MEGABYTES

export type MemoryReport = {
  readonly textMb: number
  /** Of the process before there was a store. */
  readonly baseMb: number
  readonly peakMb: number
  readonly appended: number
  readonly found: number
}

const day = 20_000
const megabyte = 1024 * 1024
const batchLines = 250
const padding = '=-'.repeat(1500)
// Of much that came at once a question may leave out what was answered less than a second ago.
const foundWithinMs = 1000
const questions = ['word7', '*"=> word7"*', '/word[0-9]+7 =>/', 'NOT word7']

const [folder, megabytes] = process.argv.slice(2)
if (process.argv[1] === import.meta.filename && folder !== undefined) await fill(folder, Number(megabytes))

async function fill(path: string, memoryMb: number): Promise<void> {
  const baseMb = await measureBase()
  const store = await createEmbeddedStore({
    folder: path,
    retention: { days: 7, bytes: 1e10 },
    memoryBytes: memoryMb * megabyte,
    now: () => day * 86_400_000,
    report: (message, error) => console.error(message, error),
  })
  const everything = { scope: 'everything' as const }
  const limits = { timeoutMs: 120_000 }
  let appended = 0
  let bytes = 0
  const sender = async (): Promise<void> => {
    while (bytes < 1.1 * memoryMb * megabyte) {
      const records = Array.from({ length: batchLines }, (_, i) => lineOf(appended + i))
      appended += records.length
      bytes += records.reduce((sum, { log }) => sum + log.length, 0)
      await untilTaken(() => store.append({ records }))
    }
  }
  const asker = async (): Promise<void> => {
    while (bytes < 1.1 * memoryMb * megabyte) {
      await store.statistics(everything, limits)
      await sleep(100)
    }
  }
  await Promise.all([sender(), sender(), sender(), asker()])
  await sleep(foundWithinMs)
  for (const question of questions) {
    const expression = parseQuery(question)
    await store.query(
      {
        filter: { ...everything, ...(expression && { expression }) },
        order: 'desc',
        size: 1000,
        start: { from: 0 },
        withTotal: true,
      },
      limits,
    )
  }
  const { logs } = await store.statistics(everything, limits)
  const report: MemoryReport = {
    appended,
    baseMb,
    textMb: bytes / megabyte,
    found: logs,
    peakMb: peakMegabytes(),
  }
  await store.close()
  process.send?.(report, () => process.exit(0))
}

/** The lines are made in this process too, which takes memory of its own. */
async function measureBase(): Promise<number> {
  const sender = async (): Promise<void> => {
    for (let round = 0; round < 50; round += 1) {
      const records = Array.from({ length: batchLines }, (_, i) => lineOf(i))
      await sleep(10)
      if (records.length === 0) return
    }
  }
  await Promise.all([sender(), sender(), sender()])
  return peakMegabytes()
}

async function untilTaken(append: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await append()
      return
    } catch (error) {
      if (!(error instanceof Status) || error.code !== 429) throw error
      await sleep(50)
    }
  }
}

/** Long lines of few words: it is the bytes that count, and the test is to be short. */
function lineOf(number: number) {
  return {
    timeNs: BigInt(day) * dayNs + BigInt(number),
    log: `word${number % 100} => ${(number * 7919).toString(36).repeat(5)} ${padding} ${number}`,
    namespace: 'ns',
    pod: `pod-${number % 20}`,
    container: 'c',
    host: '',
    dockerId: '',
  }
}

function peakMegabytes(): number {
  const text = readFileSync('/proc/self/status', 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(text)?.[1]) / 1024
}
