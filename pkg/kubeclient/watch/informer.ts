import type { Logger } from '../../telemetry/logger.ts'
import type { KubeClient } from '../client.ts'
import type { KubeObject } from '../object/object.ts'
import { Reflector } from './reflector.ts'

/** A stored value before and after a change; undefined if it did not or does not exist. */
export type StoreChange<T> = {
  readonly key: string
  readonly before: T | undefined
  readonly after: T | undefined
}

export type InformerOptions<T, Index extends string = never> = {
  readonly client: KubeClient
  /** Path of the collection, such as /api/v1/nodes; `query` restricts it (a selector). */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** Name of the watched objects for log messages, such as "users". */
  readonly what: string
  readonly logger: Logger
  /**
   * Returns the key of an object; by default `namespace/name`, or `name` for cluster-scoped objects
   * (MetaNamespaceKeyFunc of client-go).
   */
  readonly key?: (object: KubeObject) => string
  /**
   * Converts an object to the value to store; undefined to store nothing. Returning `before` means
   * that nothing has changed.
   */
  readonly parse: (object: KubeObject, before: T | undefined) => T | undefined
  /** Returns the index values of a stored value, by index name. */
  readonly indexers?: Readonly<Record<Index, (value: T) => readonly string[]>>
  /** Called after lists and events that changed something; `changes` includes missed ones. */
  readonly onChange?: (changes: readonly StoreChange<T>[], isInInitialList: boolean) => void
}

/** A reflector with an indexed store of converted objects, like Informer and Lister. */
export class Informer<T, Index extends string = never> {
  readonly #options: InformerOptions<T, Index>
  readonly #reflector: Reflector
  readonly #values = new Map<string, T>()
  /** Stored values by index name, index value and key. */
  readonly #indices = new Map<string, Map<string, Map<string, T>>>()
  #isReady = false

  constructor(options: InformerOptions<T, Index>) {
    const { client, path, query, what, logger, onChange } = options
    this.#options = options
    this.#reflector = new Reflector({
      client,
      path,
      ...(query === undefined ? {} : { query }),
      handler: {
        replace: items => {
          const isInInitialList = !this.#isReady
          const changes = this.#replace(items)
          this.#isReady = true
          onChange?.(changes, isInInitialList)
        },
        apply: events => {
          const changes = events.flatMap(({ type, object }) => {
            if (type === 'BOOKMARK') return []
            return type === 'DELETED' ? this.#set(this.#keyOf(object), undefined) : this.put(object)
          })
          if (changes.length > 0) onChange?.(changes, false)
        },
        failed: err => logger.warn({ err, path }, `failed to watch ${what}`),
      },
    })
  }

  /** Resolves when the first list has been stored. */
  start(): Promise<void> {
    return this.#reflector.start()
  }

  stop(): void {
    this.#reflector.stop()
  }

  /** Whether the first list has been stored. */
  get isReady(): boolean {
    return this.#isReady
  }

  get size(): number {
    return this.#values.size
  }

  get(key: string): T | undefined {
    return this.#values.get(key)
  }

  all(): IterableIterator<T> {
    return this.#values.values()
  }

  byIndex(index: Index, value: string): readonly T[] {
    return [...(this.#indices.get(index)?.get(value)?.values() ?? [])]
  }

  /** Stores an object that was just written, before the watch does; without onChange. */
  put(object: KubeObject): readonly StoreChange<T>[] {
    const key = this.#keyOf(object)
    return this.#set(key, this.#options.parse(object, this.#values.get(key)))
  }

  #keyOf(object: KubeObject): string {
    const { key = metaNamespaceKey } = this.#options
    return key(object)
  }

  #replace(items: readonly KubeObject[]): readonly StoreChange<T>[] {
    const listed = new Set(items.map(item => this.#keyOf(item)))
    const gone = [...this.#values.keys()].filter(key => !listed.has(key))
    const removed = gone.flatMap(key => this.#set(key, undefined))
    return [...removed, ...items.flatMap(item => this.put(item))]
  }

  #set(key: string, after: T | undefined): readonly StoreChange<T>[] {
    const before = this.#values.get(key)
    if (before === after) return []
    if (before !== undefined) this.#unindex(key, before)
    if (after === undefined) this.#values.delete(key)
    else {
      this.#values.set(key, after)
      this.#index(key, after)
    }
    return [{ key, before, after }]
  }

  #index(key: string, value: T): void {
    for (const [index, valuesOf] of this.#indexers()) {
      const byValue = this.#indices.get(index) ?? new Map<string, Map<string, T>>()
      this.#indices.set(index, byValue)
      for (const indexed of valuesOf(value)) {
        const found = byValue.get(indexed) ?? new Map<string, T>()
        byValue.set(indexed, found.set(key, value))
      }
    }
  }

  #unindex(key: string, value: T): void {
    for (const [index, valuesOf] of this.#indexers()) {
      const byValue = this.#indices.get(index)
      for (const indexed of valuesOf(value)) {
        const found = byValue?.get(indexed)
        found?.delete(key)
        if (found?.size === 0) byValue?.delete(indexed)
      }
    }
  }

  #indexers(): readonly (readonly [string, (value: T) => readonly string[]])[] {
    return Object.entries(this.#options.indexers ?? {})
  }
}

export function metaNamespaceKey({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** Key function for objects of a single namespace. */
export function byName({ metadata }: KubeObject): string {
  return metadata.name
}
