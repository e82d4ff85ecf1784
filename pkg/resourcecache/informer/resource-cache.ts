import { unavailable } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import {
  type AnnotationInput,
  type ComputedAnnotations,
  createComputedAnnotations,
} from '../decorate/computed-annotations.ts'
import type { Kind } from '../kind.ts'
import { alwaysFollowed, resourcesGroup, resourcesVersion } from '../kinds.ts'
import type { Decorate, ObjectStore } from '../store/store.ts'
import type { DiscoveryCache } from './discovery-cache.ts'
import { KindInformer } from './informer.ts'
import { SharedWatch, type SharedWatchOptions } from './shared-watch.ts'

export type ResourceCacheOptions = {
  readonly client: KubeClient
  readonly discovery: DiscoveryCache
  readonly groupDomain: string
  readonly logger: Logger
  readonly limits: () => CacheLimits
}

export type CacheLimits = {
  /** Time for which an unused kind remains cached. */
  readonly idleSeconds: number
  /** Limit for the memory of all cached kinds; beyond it, unused kinds are removed. */
  readonly maxMegabytes: number
}

const sweepMs = 5_000
const lookAgainMs = 10_000

/**
 * The cached kinds: those of the extension API from the start, all others from their first use
 * until they have been unused for a while.
 */
export class ResourceCache {
  readonly #options: ResourceCacheOptions
  readonly #live = new Map<string, KindInformer>()
  readonly #decorators: ComputedAnnotations
  readonly #pods: { readonly start: () => Promise<void>; readonly stop: () => void }
  readonly #watches = new Set<SharedWatch>()
  #sweeper: NodeJS.Timeout | undefined
  #synced = false
  readonly #lookups = new WeakMap<KindInformer, { readonly done: Promise<void>; readonly untilMs: number }>()

  constructor(options: ResourceCacheOptions) {
    const { groupDomain } = options
    this.#options = options
    this.#decorators = createComputedAnnotations(groupDomain, (kind, keys) => {
      for (const { store } of this.#live.values()) {
        if (kind === toResource(store.served.kind)) store.redecorate(keys)
      }
    })
    this.#pods = this.watch('/api/v1/pods', this.#decorators.pods)
  }

  /**
   * Watches a kind for another part of the program, with the watch of the cache if there is one.
   *
   * @param path of the collection, such as /api/v1/namespaces
   */
  watch(
    path: string,
    handler: SharedWatchOptions['handler'],
  ): { start: () => Promise<void>; stop: () => void } {
    const watch = new SharedWatch({
      client: this.#options.client,
      path,
      logger: this.#options.logger,
      handler,
    })
    return {
      start: () => {
        this.#watches.add(watch)
        const live = this.#live.values().find(each => each.store.served.kind.source.path === path)
        const isListed = live !== undefined && live.store.version > 0
        return watch.start(isListed ? [...live.store.entries()].map(entry => entry.parsed()) : undefined)
      },
      stop: () => {
        this.#watches.delete(watch)
        watch.stop()
      },
    }
  }

  /**
   * Resolves when all kinds of the extension API have synced. Pods sync first, so that nodes are
   * never shown without the sums of their pods.
   */
  async start(): Promise<void> {
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs)
    this.#sweeper.unref()
    await this.#pods.start()
    await Promise.all(alwaysFollowed.map(kind => this.#follow(kind).started()))
    this.#synced = true
  }

  stop(): void {
    clearInterval(this.#sweeper)
    this.#pods.stop()
    for (const live of this.#live.values()) live.stop()
  }

  get isSynced(): boolean {
    return this.#synced
  }

  /** Estimated size of all cached kinds in bytes. */
  get bytes(): number {
    let sum = 0
    for (const { store } of this.#live.values()) sum += store.bytes
    return sum
  }

  /** Returns the store of a kind of the extension API. @throws Status 503 while it is stale */
  store(plural: string): ObjectStore | undefined {
    const kind = alwaysFollowed.find(row => row.plural === plural)
    if (kind === undefined) return undefined
    if (!this.#synced) throw unavailable(`the cache for ${plural} has not synced yet; retry later`)
    return this.#live.get(toName(kind))?.current()
  }

  /**
   * Returns the store of any kind of kube-apiserver, and caches it from now on.
   *
   * @throws Status 503 while it is stale or the cache is full, 404 if kube-apiserver does not serve
   * it
   */
  async obtain(kind: Kind): Promise<ObjectStore> {
    const live = this.#live.get(toName(kind)) ?? this.#begin(kind)
    const input = this.#decorators.inputOf(toResource(kind))
    if (input !== undefined) await this.#followInput(live, input)
    return live.ready()
  }

  /** Returns the stores of all cached kinds. */
  stores(): readonly ObjectStore[] {
    return [...this.#live.values()].map(({ store }) => store)
  }

  #begin(kind: Kind): KindInformer {
    // Before the first list of pods, all claims would be shown as unused.
    if (!this.#synced) throw unavailable('the discovery of resources has not finished yet; retry later')
    if (!this.#fits()) {
      this.#makeRoom()
      const { maxMegabytes } = this.#options.limits()
      if (!this.#fits())
        throw unavailable(`the resource cache is full (${maxMegabytes} MiB): ${kind.plural} cannot be added`)
    }
    return this.#follow(kind)
  }

  #follow(kind: Kind): KindInformer {
    const { client, groupDomain, logger } = this.#options
    const served = { kind, group: resourcesGroup(groupDomain), version: resourcesVersion }
    const decorate: Decorate | undefined = this.#decorators.of(toResource(kind))
    const live: KindInformer = new KindInformer({
      client,
      served,
      logger,
      ...(decorate === undefined ? {} : { decorate }),
      sinks: () => this.#watchesOf(kind).map(({ followed }) => followed),
      // A removed kind is not listed again; a kind that is created later is a new one.
      gone: () => {
        if (!alwaysFollowed.includes(kind)) this.#end(toName(kind), live)
      },
    })
    this.#live.set(toName(kind), live)
    return live
  }

  /**
   * Watches the kind from which annotations of another cached kind are computed. Objects are served
   * even if it cannot be read.
   */
  async #followInput(live: KindInformer, input: AnnotationInput): Promise<void> {
    if (live.release !== undefined) return
    // The kind may be installed later, so a missing one is looked up again.
    const last = this.#lookups.get(live)
    if (last !== undefined && performance.now() < last.untilMs) return last.done
    const done = this.#subscribeTo(live, input).catch(err => {
      const { logger } = this.#options
      logger.warn({ err, resource: input.plural }, 'failed to read the objects for computed annotations')
    })
    this.#lookups.set(live, { done, untilMs: performance.now() + lookAgainMs })
    return done
  }

  async #subscribeTo(live: KindInformer, { plural, replace, apply }: AnnotationInput): Promise<void> {
    const kind = await this.#options.discovery.findByPlural(plural)
    if (kind === undefined) return
    const store = await (this.#live.get(toName(kind)) ?? this.#begin(kind)).ready()
    if (live.store.isEnded) return
    const entries = () => (store.isEnded ? [] : store.entries())
    const unsubscribe = store.subscribe({
      changed: changes => apply(changes, entries),
      reset: () => {
        replace(entries())
        if (!store.isEnded) return
        unsubscribe()
        live.release = undefined
      },
    })
    live.release = unsubscribe
    replace(entries())
  }

  #sweep(): void {
    const idleSince = performance.now() - this.#options.limits().idleSeconds * 1000
    for (const [name, live] of this.#idle()) {
      if (live.usedAtMs < idleSince) this.#end(name, live)
    }
    if (!this.#fits()) this.#makeRoom()
  }

  #fits(): boolean {
    return this.bytes <= this.#options.limits().maxMegabytes * 2 ** 20
  }

  /** Removes the least recently used kinds until the others fit into the limit. */
  #makeRoom(): void {
    for (const [name, live] of this.#idle()) {
      if (this.#fits()) return
      this.#end(name, live)
    }
  }

  /** Returns the kinds that may be removed, least recently used first. */
  #idle(): readonly (readonly [string, KindInformer])[] {
    const always = new Set(alwaysFollowed.map(toName))
    return [...this.#live]
      .filter(([name, { store }]) => !always.has(name) && !store.isWatched)
      .sort(([, a], [, b]) => a.usedAtMs - b.usedAtMs)
  }

  #end(name: string, live: KindInformer): void {
    live.stop()
    live.release?.()
    this.#live.delete(name)
    for (const watch of this.#watchesOf(live.store.served.kind)) watch.unfollowed()
    // At the end, because a caller that is notified may request the kind again.
    live.store.end()
  }

  #watchesOf({ source }: Kind): readonly SharedWatch[] {
    return [...this.#watches].filter(({ path }) => path === source.path)
  }
}

function toResource({ source, plural }: Kind): string {
  return `${source.group}/${plural}`
}

function toName({ source, plural }: Kind): string {
  return `${source.group}/${source.version}/${plural}`
}
