import type { KubeClient } from '../../kubeclient/client.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { retryUntilSuccess } from '../../kubeclient/retry.ts'
import { Reflector } from '../../kubeclient/watch/reflector.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { exportHits } from '../export-records.ts'
import { fieldValues } from '../field-values.ts'
import type { LogStore } from '../store.ts'
import type { Entry, EventWriter } from './event-writer.ts'
import { toKubeEventRecord, versionOf } from './kube-event.ts'

export type EventFeedOptions = {
  readonly client: KubeClient
  readonly store: LogStore
  readonly writer: Pick<EventWriter, 'write' | 'waiting'>
  readonly logger: Logger
}

const lookTimeoutMs = 30_000
const retryMs = 5_000

/**
 * Watches the events of kube-apiserver and stores each update. The list after a start contains
 * events that are already stored; a query of the store finds and skips these. Replicas use the same
 * IDs, so each update is stored once.
 */
export class EventFeed {
  readonly #options: EventFeedOptions
  readonly #reflector: Reflector
  readonly #stopping = new AbortController()
  /** Settles after the last list; each queries the store, so they run one by one. */
  #turn: Promise<void> = Promise.resolve()

  constructor(options: EventFeedOptions) {
    this.#options = options
    this.#reflector = new Reflector({
      client: options.client,
      path: '/api/v1/events',
      // kube-apiserver serves events directly from etcd, without the cache that sends bookmarks.
      hasBookmarks: false,
      handler: {
        replace: (items, _version, sources) =>
          this.#queue(items.map((item, i) => toWritten(item, sources[i] ?? JSON.stringify(item)))),
        // Updates do not queue behind lists: while the store is down, only the writer's buffer must
        // limit memory.
        apply: events => {
          for (const { type, object, json } of events) {
            if (type === 'ADDED' || type === 'MODIFIED') options.writer.write(toWritten(object, json))
          }
        },
        failed: err => options.logger.warn({ err }, 'failed to watch events, retrying'),
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

  #queue(entries: readonly Entry[]): void {
    this.#turn = this.#turn
      .then(() => this.#writeUnknown(entries))
      .catch(err => {
        this.#options.logger.error({ err }, 'failed to write the listed events')
      })
  }

  async #writeUnknown(entries: readonly Entry[]): Promise<void> {
    const { signal } = this.#stopping
    const { writer, logger } = this.#options
    const message = 'failed to read stored events, retrying'
    await retryUntilSuccess(
      async () => {
        // Read before the query: an event that is stored meanwhile would be in neither result.
        const waiting = writer.waiting()
        const known = new Set([...waiting, ...(await this.#readKnown(entries))])
        for (const entry of entries) if (!known.has(entry.id)) writer.write(entry)
      },
      { logger, signal, delayMs: retryMs, message },
    )
  }

  /** Returns the versions of stored events in the time range of these events. */
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
      for (const { record } of hits)
        for (const version of fieldValues(record.fields, 'version')) known.add(version)
    }
    return known
  }
}

function toWritten(event: KubeObject, json: string): Entry {
  return { record: toKubeEventRecord(event, json), id: versionOf(event) }
}
