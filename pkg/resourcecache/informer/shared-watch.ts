import type { KubeClient } from '../../kubeclient/client.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { Reflector, type ReflectorHandler } from '../../kubeclient/watch/reflector.ts'
import type { Logger } from '../../telemetry/logger.ts'

export type SharedWatchOptions = {
  readonly client: KubeClient
  /** Path of the collection, such as /api/v1/pods. */
  readonly path: string
  readonly logger: Logger
  readonly handler: { readonly replace: (items: readonly KubeObject[]) => void } & Pick<
    ReflectorHandler,
    'apply'
  >
}

/**
 * Watches a kind for a part of the program that stores only little of each object. While the kind
 * is in the resource cache, it uses the watch of the cache (`followed`), otherwise a separate
 * watch.
 */
export class SharedWatch {
  readonly #options: SharedWatchOptions
  readonly #synced = Promise.withResolvers<void>()
  #own: Reflector | undefined
  #isRunning = false

  constructor(options: SharedWatchOptions) {
    this.#options = options
  }

  get path(): string {
    return this.#options.path
  }

  /** Starts watching; resolves after the first list. @param cached objects in the cache */
  start(cached?: readonly KubeObject[]): Promise<void> {
    this.#isRunning = true
    if (cached === undefined) this.unfollowed()
    else this.#replace(cached)
    return this.#synced.promise
  }

  stop(): void {
    this.#isRunning = false
    this.#endOwn()
  }

  /** Must receive all updates of the watch of the cache, beginning with its first list. */
  readonly followed: Pick<ReflectorHandler, 'replace' | 'apply'> = {
    replace: items => {
      if (!this.#isRunning) return
      this.#endOwn()
      this.#replace(items)
    },
    apply: events => {
      // The watch of the cache sends no events before its first list.
      if (this.#isRunning) this.#options.handler.apply(events)
    },
  }

  /** Must be called when the kind is removed from the cache. */
  unfollowed(): void {
    if (!this.#isRunning || this.#own !== undefined) return
    const { client, path, logger, handler } = this.#options
    this.#own = new Reflector({
      client,
      path,
      handler: {
        replace: items => this.#replace(items),
        apply: handler.apply,
        failed: err => logger.warn({ err, path }, 'watch failed, retrying'),
      },
    })
    void this.#own.start()
  }

  #replace(items: readonly KubeObject[]): void {
    this.#options.handler.replace(items)
    this.#synced.resolve()
  }

  #endOwn(): void {
    this.#own?.stop()
    this.#own = undefined
  }
}
