import { setTimeout as sleep } from 'node:timers/promises'
import { isStatus, Status } from '../../apierrors/status.ts'
import type { KubeClient } from '../client.ts'
import { readListPage } from '../list/list-page.ts'
import { type KubeObject, parseList } from '../object/object.ts'
import { type ReceivedEvent, readWatch } from './watch.ts'

/** Receives lists and events in the order in which kube-apiserver sends them. */
export type ReflectorHandler = {
  /** Called before a list, a quorum read with everything that was stored before. */
  readonly listing?: () => void
  /**
   * Called with the complete state at a resource version: at the start, and whenever events may
   * have been missed. `sources` contains the received JSON of each item.
   */
  readonly replace: (
    items: readonly KubeObject[],
    resourceVersion: string,
    sources: readonly string[],
  ) => void
  readonly apply: (events: readonly ReceivedEvent[]) => void
  /** Called when the watch is established or lost; while it is lost, the state may be stale. */
  readonly connected?: (connected: boolean) => void
  readonly failed?: (error: unknown) => void
}

export type ReflectorOptions = {
  readonly client: KubeClient
  /** Path of the collection, such as /api/v1/nodes; `query` restricts it (a fieldSelector). */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** `false` without bookmarks: the watch ends early, before silence means a failure. */
  readonly hasBookmarks?: false
  readonly handler: ReflectorHandler
}

const pageSize = 500
const watchSeconds = { min: 300, spread: 300 }
const watchSecondsWithoutBookmarks = { min: 50, spread: 25 }
const backoffMs = { first: 200, max: 2_000 }
// kube-apiserver sends a bookmark about once a minute; a longer silence counts as lost.
const silenceMs = 90_000

/** Lists and watches until it is stopped, with back-off, like Reflector of client-go. */
export class Reflector {
  readonly #options: ReflectorOptions
  readonly #abort = new AbortController()
  readonly #synced = Promise.withResolvers<void>()

  /** Resource version up to which all events were delivered; '' requests a new list. */
  #version = ''

  constructor(options: ReflectorOptions) {
    this.#options = options
  }

  /** Runs until stop(); resolves after the first list. */
  start(): Promise<void> {
    void this.#run()
    return this.#synced.promise
  }

  stop(): void {
    this.#abort.abort()
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort
    let delayMs = backoffMs.first
    while (!signal.aborted) {
      let sawEvents = false
      try {
        if (this.#version === '') await this.#list()
        sawEvents = await this.#watch()
      } catch (error) {
        if (signal.aborted) break
        // After 410 Expired or any other rejection of the version, a new list is required.
        if (error instanceof Status && error.code < 500 && error.code !== 429) this.#version = ''
        // An expired version is normal after an outage, so it is not reported as a failure.
        if (!isStatus(error, 410)) {
          this.#options.handler.connected?.(false)
          this.#options.handler.failed?.(error)
        }
      }
      // A watch that ends without an event counts as a failure, so that a server that ends each
      // watch immediately gets requests at increasing intervals.
      delayMs = sawEvents ? backoffMs.first : Math.min(delayMs * 2, backoffMs.max)
      // Jitter prevents replicas from reconnecting simultaneously after kube-apiserver's outage.
      await sleep(delayMs * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined)
    }
  }

  async #list(): Promise<void> {
    const items: KubeObject[] = []
    const sources: string[] = []
    this.#options.handler.listing?.()
    let token = ''
    for (;;) {
      const query = new URLSearchParams({ ...this.#options.query, limit: String(pageSize) })
      if (token !== '') query.set('continue', token)
      const call = { path: `${this.#options.path}?${query}`, signal: this.#abort.signal, timeoutMs: 30_000 }
      const page = await readListPage(this.#options.client, call)
      const list = parseList(page.list)
      for (const item of list.items ?? []) items.push(item)
      for (const source of page.sources) sources.push(source)
      token = list.metadata.continue ?? ''
      if (token === '') {
        this.#version = list.metadata.resourceVersion
        this.#options.handler.replace(items, this.#version, sources)
        this.#synced.resolve()
        return
      }
    }
  }

  /** @returns whether any event arrived */
  async #watch(): Promise<boolean> {
    const { min, spread } = this.#options.hasBookmarks === false ? watchSecondsWithoutBookmarks : watchSeconds
    const timeoutSeconds = Math.floor(min + Math.random() * spread)
    const query = new URLSearchParams({
      ...this.#options.query,
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#version,
      timeoutSeconds: String(timeoutSeconds),
    })
    const path = `${this.#options.path}?${query}`
    const stream = await this.#options.client.stream({
      path,
      signal: this.#abort.signal,
      timeoutMs: silenceMs,
    })
    this.#options.handler.connected?.(true)
    let sawEvents = false
    for await (const events of readWatch(stream)) {
      this.#options.handler.apply(events)
      // The version is updated with each batch, so that no event is delivered twice.
      this.#version = events.at(-1)?.object.metadata.resourceVersion ?? this.#version
      sawEvents = true
    }
    return sawEvents
  }
}
