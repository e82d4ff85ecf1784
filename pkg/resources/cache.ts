import type { KubeClient } from '../kube/client.ts'
import { Reflector } from '../kube/reflector.ts'
import { unavailable } from '../status/status.ts'
import type { Logger } from '../telemetry/logger.ts'
import { Collection } from './collection.ts'
import { kinds, resourcesGroup, resourcesVersion } from './kinds.ts'
import { createNodeUsageIndex } from './node-usage.ts'
import { decorateNode } from './nodes.ts'

export type ResourceCacheOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly logger: Logger
}

// A watch is reopened within this time in ordinary life; after it, what is cached may be wrong and is not given out.
const staleAfterMs = 5_000

type Cached = {
  readonly collection: Collection
  readonly reflector: Reflector
  disconnectedAt: number | undefined
}

/** One collection for each kind, fed by one watch each. */
export class ResourceCache {
  readonly #cached = new Map<string, Cached>()
  readonly #pods: Reflector
  #synced = false

  constructor(options: ResourceCacheOptions) {
    const { client, groupDomain, logger } = options
    const usage = createNodeUsageIndex(changed => this.#cached.get('nodes')?.collection.redecorate(changed))
    this.#pods = new Reflector({
      client,
      path: '/api/v1/pods',
      sink: { ...usage.sink, failed: warn(logger, 'pods') },
    })
    for (const kind of kinds) {
      const served = { kind, group: resourcesGroup(groupDomain), version: resourcesVersion }
      const collection = new Collection(served, entry =>
        decorateNode(entry.facts, usage.of(entry.name), groupDomain),
      )
      const sink = {
        replace: collection.replace.bind(collection),
        apply: collection.apply.bind(collection),
        failed: warn(logger, kind.plural),
        connected: (connected: boolean) => {
          cached.disconnectedAt = connected ? undefined : (cached.disconnectedAt ?? Date.now())
        },
      }
      const reflector = new Reflector({ client, path: kind.source.path, sink })
      const cached: Cached = { collection, reflector, disconnectedAt: undefined }
      this.#cached.set(kind.plural, cached)
    }
  }

  /** Resolves once every collection has its first state. Pods come first, so that no node is shown without its sums. */
  async start(): Promise<void> {
    await this.#pods.start()
    await Promise.all([...this.#cached.values()].map(({ reflector }) => reflector.start()))
    this.#synced = true
  }

  stop(): void {
    this.#pods.stop()
    for (const { reflector } of this.#cached.values()) reflector.stop()
  }

  get isSynced(): boolean {
    return this.#synced
  }

  /**
   * The collection of a kind; undefined for a plural that is not cached.
   *
   * @throws Status 503 while its watch is broken for longer than a reconnection takes: an old answer would be a wrong one
   */
  collection(plural: string): Collection | undefined {
    const cached = this.#cached.get(plural)
    if (cached === undefined) return undefined
    if (!this.#synced) throw unavailable(`${plural} are still being read from the orchestrator`)
    if (cached.disconnectedAt !== undefined && Date.now() - cached.disconnectedAt > staleAfterMs) {
      throw unavailable(`${plural} cannot be watched: the orchestrator does not answer`)
    }
    return cached.collection
  }

  collections(): readonly Collection[] {
    return [...this.#cached.values()].map(({ collection }) => collection)
  }
}

function warn(logger: Logger, plural: string) {
  return (error: unknown) => logger.warn({ err: error, resource: plural }, 'watch failed, trying again')
}
