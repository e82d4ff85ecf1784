import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../telemetry/logger.ts'
import type { LogRecord } from '../record.ts'
import type { LogStore } from '../store.ts'

export type Entry = {
  readonly record: LogRecord
  /** ID by which the store recognizes an event that another replica has already stored. */
  readonly id: string
}

export type EventWriterOptions = {
  readonly store: Pick<LogStore, 'append'>
  /** Maximum number of events buffered for a store that is unavailable or slow. */
  readonly bufferEvents: number
  readonly logger: Logger
  /** Called with the number of events that were dropped. */
  readonly lost: (count: number) => void
}

// Time to collect events before they are stored as a batch.
const gatherMs = 300
const maxBatch = 1_000
const retryMs = { first: 500, max: 15_000 }

/** Stores events in order, in batches and in the background. */
export class EventWriter {
  readonly #options: EventWriterOptions
  readonly #stopping = new AbortController()
  #waiting: Entry[] = []
  #writing: Promise<void> | undefined

  constructor(options: EventWriterOptions) {
    this.#options = options
  }

  write(entry: Entry): void {
    if (this.#stopping.signal.aborted) return
    if (this.#waiting.length >= this.#options.bufferEvents) {
      this.#options.lost(1)
      return
    }
    this.#waiting.push(entry)
    this.#writing ??= this.#drain()
  }

  /** Returns the IDs of the buffered events. */
  waiting(): readonly string[] {
    return this.#waiting.map(({ id }) => id)
  }

  /** Tries a last time to store the buffered events, and drops those that fail. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#writing
  }

  async #drain(): Promise<void> {
    let delayMs = retryMs.first
    await this.#pause(gatherMs)
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, maxBatch)
      try {
        await this.#append(batch)
        this.#waiting = this.#waiting.slice(batch.length)
        delayMs = retryMs.first
        if (this.#waiting.length < maxBatch) await this.#pause(gatherMs)
      } catch (err) {
        this.#options.logger.warn({ err, waiting: this.#waiting.length }, 'failed to store events, retrying')
        if (this.#stopping.signal.aborted) {
          this.#options.lost(this.#waiting.length)
          this.#waiting = []
        }
        await this.#pause(delayMs)
        delayMs = Math.min(delayMs * 2, retryMs.max)
      }
    }
    // Reset synchronously: otherwise `write` would rely on a drain that has already ended.
    this.#writing = undefined
  }

  async #append(batch: readonly Entry[]): Promise<void> {
    const { rejected } = await this.#options.store.append({
      records: batch.map(({ record }) => record),
      ids: batch.map(({ id }) => id),
    })
    if (rejected.length === 0) return
    // Not an error: the list after a start usually has events older than the retention period.
    const [first] = rejected
    this.#options.logger.debug(
      { rejected: rejected.length, reason: first?.reason },
      'the log store rejected events',
    )
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping
    return sleep(ms, undefined, { signal }).catch(() => undefined)
  }
}
