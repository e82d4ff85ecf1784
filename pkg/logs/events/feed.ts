import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from '../../kube/client.ts'
import type { KubeObject } from '../../kube/object.ts'
import { Reflector } from '../../kube/reflector.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { exportHits } from '../export.ts'
import type { LogStore } from '../store.ts'
import { firstValue } from './entry.ts'
import { toKubeEventRecord, versionOf } from './kube-event.ts'
import type { Entry } from './writer.ts'

export type EventFeedOptions = {
  readonly client: KubeClient
  readonly store: LogStore
  readonly write: (entry: Entry) => void
  readonly logger: Logger
}

const lookTimeoutMs = 30_000
const retryMs = 5_000

/**
 * Follows the orchestrator's events and hands each writing of each on to be stored. After a start the list has what was
 * stored before: the store is asked what it has of that time. Replicas that follow at the same time store under the same ids.
 */
export class EventFeed {
  readonly #options: EventFeedOptions
  readonly #reflector: Reflector
  readonly #stopping = new AbortController()
  /** Lists and watch events, one after the other. */
  #turn: Promise<void> = Promise.resolve()

  constructor(options: EventFeedOptions) {
    this.#options = options
    this.#reflector = new Reflector({
      client: options.client,
      path: '/api/v1/events',
      sink: {
        replace: items => this.#queue(() => this.#writeUnknown(items)),
        apply: events => {
          const written = events.filter(({ type }) => type === 'ADDED' || type === 'MODIFIED')
          if (written.length > 0) this.#queue(() => this.#write(written.map(({ object }) => object)))
        },
        failed: err => options.logger.warn({ err }, 'watching events failed'),
      },
    })
  }

  start(): void {
    void this.#reflector.start()
  }

  async stop(): Promise<void> {
    this.#reflector.stop()
    this.#stopping.abort()
    await this.#turn
  }

  #queue(step: () => Promise<void> | void): void {
    this.#turn = this.#turn.then(step).catch(err => {
      this.#options.logger.error({ err }, 'events were not followed')
    })
  }

  #write(events: readonly KubeObject[]): void {
    for (const event of events) this.#options.write(toWritten(event))
  }

  async #writeUnknown(events: readonly KubeObject[]): Promise<void> {
    const { signal } = this.#stopping
    const entries = events.map(toWritten)
    while (!signal.aborted) {
      try {
        const known = await this.#readKnown(entries)
        for (const entry of entries) if (!known.has(entry.id)) this.#options.write(entry)
        return
      } catch (err) {
        if (signal.aborted) return
        this.#options.logger.warn({ err }, 'what is known of events cannot be read, trying again')
        await sleep(retryMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  /** The versions that the store has of the time that these are of. */
  async #readKnown(entries: readonly Entry[]): Promise<ReadonlySet<string>> {
    const known = new Set<string>()
    const times = entries.map(({ record }) => record.timeNs)
    const [first] = times
    if (first === undefined) return known
    let [startNs, endNs] = [first, first]
    for (const time of times) {
      if (time < startNs) startNs = time
      if (time > endNs) endNs = time
    }
    const filter = { scope: 'everything', startNs, endNs } as const
    const all = { filter, order: 'asc', limit: Number.POSITIVE_INFINITY } as const
    const limits = { timeoutMs: lookTimeoutMs, signal: this.#stopping.signal }
    for await (const hits of exportHits(this.#options.store, all, limits)) {
      for (const { record } of hits) known.add(firstValue(record.log, 'version') ?? '')
    }
    return known
  }
}

function toWritten(event: KubeObject): Entry {
  return { record: toKubeEventRecord(event), id: versionOf(event) }
}
