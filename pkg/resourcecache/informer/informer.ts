import { isStatus, unavailable, unknownResource } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { readObjectVersion, readVersionPage } from '../../kubeclient/list/list-versions.ts'
import { Reflector, type ReflectorHandler } from '../../kubeclient/watch/reflector.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { explainForbidden } from '../list/list-error.ts'
import type { ServedKind } from '../store/cached-object.ts'
import { type Decorate, ObjectStore } from '../store/store.ts'
import { createConfirm } from './consistent-read.ts'

export type KindInformerOptions = {
  readonly client: KubeClient
  readonly served: ServedKind
  readonly decorate?: Decorate
  readonly logger: Logger
  /** Additional receivers of the objects, which may be added and removed. */
  readonly sinks?: () => Iterable<Pick<ReflectorHandler, 'replace' | 'apply'>>
  /** Called when kube-apiserver does not serve the kind, or no longer does. */
  readonly gone: () => void
}

// A watch normally restarts within this time, after which the cache may be stale and is not read.
const staleAfterMs = 5_000
// Timeout for the first list of a large kind, shorter than that of most clients.
const firstListMs = 20_000

/** A cached kind: its collection, and the watch that updates it. */
export class KindInformer {
  readonly store: ObjectStore
  usedAtMs = performance.now()
  /** Stops watches that only this kind requires. */
  release: (() => void) | undefined
  readonly #plural: string
  readonly #reflector: Reflector
  readonly #synced: Promise<void>
  #isSynced = false
  #disconnectedAtMs: number | undefined
  #error: unknown

  constructor({ client, served, decorate, logger, sinks = () => [], gone }: KindInformerOptions) {
    const { plural, source } = served.kind
    this.#plural = plural
    this.store = new ObjectStore(served, {
      decorate,
      confirm: store =>
        createConfirm(store, {
          page: call => readVersionPage(client, call),
          object: call => readObjectVersion(client, call),
        }),
    })
    this.#reflector = new Reflector({
      client,
      path: source.path,
      handler: {
        replace: (...state) => {
          this.store.replace(...state)
          for (const handler of sinks()) handler.replace(...state)
        },
        apply: events => {
          this.store.apply(events)
          for (const handler of sinks()) handler.apply(events)
        },
        failed: err => {
          this.#error = err
          if (this.isGone) return gone()
          logger.warn({ err, resource: plural }, 'watch failed, retrying')
        },
        connected: connected => {
          this.#disconnectedAtMs = connected ? undefined : (this.#disconnectedAtMs ?? performance.now())
          if (connected) this.#error = undefined
        },
      },
    })
    this.#synced = this.#reflector.start().then(() => {
      this.#isSynced = true
    })
  }

  get isSynced(): boolean {
    return this.#isSynced
  }

  /** Whether kube-apiserver has reported that the kind does not exist, or no longer exists. */
  get isGone(): boolean {
    return isStatus(this.#error, 404)
  }

  /** Resolves when the first list has been stored. */
  started(): Promise<void> {
    return this.#synced
  }

  stop(): void {
    this.#reflector.stop()
  }

  /**
   * Returns the store if it is current.
   *
   * @throws Status 404 for a kind that was removed; 503 before the first list, and while the watch
   * is down for longer than a restart takes, rather than serving stale data
   */
  current(): ObjectStore {
    this.usedAtMs = performance.now()
    if (this.isGone) throw unknownResource()
    if (!this.#isSynced) throw unavailable(`the cache for ${this.#plural} has not synced yet; retry later`)
    const since = this.#disconnectedAtMs
    if (since !== undefined && performance.now() - since > staleAfterMs)
      throw unavailable(
        `the cache for ${this.#plural} is stale: the watch on kube-apiserver was lost; retry later`,
      )
    return this.store
  }

  /** Returns the store after the first list. @throws Status 404 for an unknown kind, 503 */
  async ready(): Promise<ObjectStore> {
    const deadline = performance.now() + firstListMs
    while (!this.#isSynced && performance.now() < deadline && this.#error === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>()
      // The loop also polls, since an error of the first list does not settle the promise.
      const timer = setTimeout(resolve, 50)
      await Promise.race([this.#synced, promise])
      clearTimeout(timer)
    }
    if (!this.#isSynced && this.#error !== undefined) throw explainForbidden(this.#plural, this.#error)
    return this.current()
  }
}
