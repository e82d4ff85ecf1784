import type { KubeObject } from '../../kubeclient/object/object.ts'
import type { ReceivedEvent } from '../../kubeclient/watch/watch.ts'
import type { Decoration } from '../kind.ts'
import { byKey } from '../list/order.ts'
import { CachedObject, type ServedKind, toKey } from './cached-object.ts'
import { type Chunk, entriesWithin } from './chunk.ts'
import { View, type ViewQuery } from './materialized-view.ts'
import { SortedIndex } from './sorted-index.ts'
import { type WatchChange, WatchWindow } from './watch-window.ts'

/**
 * Called with the changes in order, once per event-loop turn. `reset` means that changes were
 * missed and watches cannot be resumed.
 */
export type Subscriber = {
  readonly changed: (changes: readonly WatchChange[]) => void
  readonly reset: () => void
}

export type Decorate = (entry: CachedObject) => Decoration

/** A part of a kind: '' stands for all namespaces or all names. */
export type Scope = { readonly namespace: string; readonly name: string }

/**
 * Updates the store from kube-apiserver: resolves when the store includes every write to the scope
 * that completed before the call.
 *
 * @throws Status 503, and 504 on a timeout
 */
export type Confirm = (scope: Scope) => Promise<void>

export type ObjectStoreOptions = {
  readonly decorate?: Decorate | undefined
  readonly confirm?: (store: ObjectStore) => Confirm
}

// Each view must be maintained; more of them would cost more than computing results again.
const maxViews = 64
const viewIdleMs = 60_000
// Time limit per change for the update of all views. Views with selectors may have to scan a whole
// large object.
const maxPutMs = 20

/** All objects of a kind as of the watch, with materialized views of queries. */
export class ObjectStore {
  readonly served: ServedKind
  /** undefined for objects that were read for a single request. */
  readonly confirm: Confirm | undefined
  readonly #decorate: Decorate | undefined
  readonly #entries = new Map<string, CachedObject>()
  readonly #views = new Map<string, View>()
  readonly #subscribers = new Set<Subscriber>()
  #index = new SortedIndex(byKey, [])
  #history = new WatchWindow(0)
  #version = 0
  /** Version of a comparison with kube-apiserver, up to which events are ignored. */
  #confirmedVersion = 0
  #bytes = 0
  #isEnded = false
  #waiters: { readonly version: number; readonly resolve: () => void }[] = []

  constructor(served: ServedKind, { decorate, confirm }: ObjectStoreOptions = {}) {
    this.served = served
    this.#decorate = decorate
    this.confirm = confirm?.(this)
  }

  /** Resource version of the state. It comes from kube-apiserver, so that replicas agree. */
  get version(): number {
    return this.#version
  }

  /** The lowest version from which watches can resume. */
  get horizon(): number {
    return this.#history.horizon
  }

  get size(): number {
    return this.#entries.size
  }

  /** Estimated memory of the objects in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  get isWatched(): boolean {
    return this.#subscribers.size > 0
  }

  /** Whether the watch has ended, so that no changes will follow. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  get(namespace: string, name: string): CachedObject | undefined {
    return this.#entries.get(toKey(namespace, name))
  }

  /** Returns all objects in key order; later changes do not affect the result. */
  snapshot(): readonly Chunk[] {
    return this.#index.snapshot()
  }

  /** Returns the changes after `version`; undefined if the history does not contain all of them. */
  since(version: number): readonly WatchChange[] | undefined {
    return this.#history.since(version)
  }

  /** Returns the objects at `version` in key order; undefined if it is too old. */
  at(version: number): readonly Chunk[] | undefined {
    if (version === this.#version) return this.snapshot()
    const changes = version > this.#version ? undefined : this.#history.since(version)
    if (changes === undefined) return undefined
    if (changes.length === 0) return this.snapshot()
    const past = this.#index.copy()
    for (const { type, entry, old } of [...changes].reverse()) {
      if (old === undefined) past.remove(entry)
      else if (type === 'DELETED') past.insert(old)
      else past.replace(entry, old)
    }
    return past.snapshot()
  }

  /** Returns whether the view of a query exists. */
  hasView(key: string): boolean {
    return this.#views.has(key)
  }

  /** Returns all objects in no particular order. */
  entries(): Iterable<CachedObject> {
    return this.#entries.values()
  }

  /** The objects in some namespaces, of which only these are visited, or all. */
  entriesInNamespaces(namespaces: ReadonlySet<string> | undefined): Iterable<CachedObject> {
    return namespaces === undefined ? this.entries() : entriesWithin(this.#index.chunks, namespaces)
  }

  /**
   * Returns the view of a query. Views are created on first use, maintained, and dropped when
   * unused.
   *
   * @param matches the predicate of the query, if its values have already been computed
   */
  view(query: ViewQuery, matches = query.matches): View {
    const found = this.#views.get(query.key)
    // Re-inserting keeps the map ordered by last use.
    if (found) this.#views.delete(query.key)
    const view = found ?? new View(query, this.entriesInNamespaces(query.namespaces), matches)
    view.usedAt = performance.now()
    this.#views.set(query.key, view)
    for (const [key, old] of this.#views) {
      if (this.#views.size <= maxViews && old.usedAt > view.usedAt - viewIdleMs) break
      this.#views.delete(key)
    }
    return view
  }

  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber)
    return () => this.#subscribers.delete(subscriber)
  }

  /** Resolves to true at `version`, or to false after `timeoutMs` or an abort. */
  async waitFor(version: number, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#version >= version) return true
    if (this.#isEnded) return false
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { version, resolve }
    this.#waiters.push(waiter)
    const timer = setTimeout(resolve, timeoutMs)
    signal?.addEventListener('abort', () => resolve(), { once: true })
    await promise
    clearTimeout(timer)
    this.#waiters = this.#waiters.filter(other => other !== waiter)
    return this.#version >= version
  }

  /**
   * Replaces the state: at the start, and when events were missed. Watches cannot be resumed from
   * earlier versions.
   *
   * @param sources the received JSON of each item
   */
  replace(items: readonly KubeObject[], resourceVersion: string, sources: readonly string[]): void {
    this.#entries.clear()
    for (const [i, item] of items.entries()) {
      const entry = this.#toEntry(item, sources[i])
      this.#entries.set(entry.key, entry)
    }
    this.#bytes = this.#entries.values().reduce((sum, { size }) => sum + size, 0)
    this.#index = new SortedIndex(byKey, [...this.#entries.values()])
    this.#views.clear()
    this.#history = new WatchWindow(Number(resourceVersion))
    this.#confirmedVersion = 0
    this.#setVersion(Number(resourceVersion))
    for (const subscriber of this.#subscribers) subscriber.reset()
  }

  /** Ends all waits and watches; a list that is being written keeps its objects. */
  end(): void {
    this.#isEnded = true
    for (const waiter of this.#waiters) waiter.resolve()
    for (const subscriber of this.#subscribers) subscriber.reset()
  }

  apply(events: readonly ReceivedEvent[]): void {
    const changes: WatchChange[] = []
    for (const { type, object, json } of events) {
      const isKnown = Number(object.metadata.resourceVersion) <= this.#confirmedVersion
      if (type !== 'BOOKMARK' && !isKnown) changes.push(this.#change(type, object, json))
    }
    for (const change of changes) this.#history.push(change)
    const last = Number(events.at(-1)?.object.metadata.resourceVersion)
    if (last > this.#confirmedVersion) this.#setVersion(last)
    if (changes.length > 0) for (const subscriber of this.#subscribers) subscriber.changed(changes)
  }

  /**
   * Declares that the state equals that of kube-apiserver at a later version. Delayed events up to
   * that version are ignored, as after a list: their objects have changed again since.
   */
  advance(version: number): void {
    if (version <= this.#version) return
    this.#confirmedVersion = version
    this.#setVersion(version)
  }

  /** Computes annotations again after their inputs have changed, without an event. */
  redecorate(names: Iterable<string> | 'all'): void {
    for (const key of names === 'all' ? [...this.#entries.keys()] : names) {
      const old = this.#entries.get(key)
      if (old && this.#decorate) this.#put(old, old.decorated(this.#decorate(old)))
    }
  }

  #toEntry(object: KubeObject, json: string | undefined): CachedObject {
    if (json === undefined) throw new Error(`the source text of ${object.metadata.name} is missing`)
    const entry = CachedObject.from(this.served, object, json)
    return this.#decorate ? entry.decorated(this.#decorate(entry)) : entry
  }

  #change(type: WatchChange['type'], object: KubeObject, json: string): WatchChange {
    const entry = this.#toEntry(object, json)
    const old = this.#entries.get(entry.key)
    this.#put(old, type === 'DELETED' ? undefined : entry)
    return { version: entry.version, type, entry, old }
  }

  #put(old: CachedObject | undefined, entry: CachedObject | undefined): void {
    if (entry) this.#entries.set(entry.key, entry)
    else if (old) this.#entries.delete(old.key)
    if (old && entry) this.#index.replace(old, entry)
    else if (entry) this.#index.insert(entry)
    else if (old) this.#index.remove(old)
    this.#bytes += (entry?.size ?? 0) - (old?.size ?? 0)
    const since = performance.now()
    for (const [key, view] of this.#views) {
      // A view that is dropped is built again when it is used.
      if (performance.now() - since > maxPutMs) this.#views.delete(key)
      else view.put(old, entry)
    }
  }

  #setVersion(version: number): void {
    this.#version = version
    for (const waiter of this.#waiters) if (waiter.version <= version) waiter.resolve()
  }
}
