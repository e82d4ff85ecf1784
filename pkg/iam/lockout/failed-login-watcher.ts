import type { KubeClient } from '../../kubeclient/client.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { Reflector } from '../../kubeclient/watch/reflector.ts'
import type { Logger } from '../../telemetry/logger.ts'
import {
  loginRecordsPath,
  type ReceivedFailure,
  recordNames,
  toSeenFailure,
} from '../loginrecords/login-record.ts'

export type FailedLoginWatcherOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  /** ID of this process, whose own failures are already counted. */
  readonly writer: string
  /** Length of the window in seconds; older failures do not count. */
  readonly windowSeconds: number
  readonly onFailure: (failure: ReceivedFailure) => void
  readonly logger: Logger
}

/** Watches failed logins of other replicas, and of this process before a restart. */
export class FailedLoginWatcher {
  readonly #options: FailedLoginWatcherOptions
  readonly #reflector: Reflector
  readonly #seen = new Map<string, number>()
  #isReady = false

  constructor(options: FailedLoginWatcherOptions) {
    this.#options = options
    this.#reflector = new Reflector({
      client: options.client,
      path: loginRecordsPath(options.groupDomain),
      query: { fieldSelector: 'spec.success=false' },
      handler: {
        replace: items => {
          const inOrder = [...items].sort(
            (a, b) => Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp),
          )
          for (const item of inOrder) this.#take(item)
          this.#isReady = true
        },
        apply: events => {
          for (const { type, object } of events) if (type === 'ADDED') this.#take(object)
        },
        failed: err => options.logger.warn({ err }, 'failed to watch login records'),
      },
    })
  }

  start(): Promise<void> {
    return this.#reflector.start()
  }

  stop(): void {
    this.#reflector.stop()
  }

  get isReady(): boolean {
    return this.#isReady
  }

  #take(object: KubeObject): void {
    const { groupDomain, writer, windowSeconds, onFailure } = this.#options
    const { uid, annotations } = object.metadata
    const sinceMs = Date.now() - windowSeconds * 1000
    const failure = toSeenFailure(object, groupDomain)
    if (annotations?.[recordNames(groupDomain).writer] === writer) return
    if (failure.atMs < sinceMs || this.#seen.has(uid)) return
    // The map is ordered by time, oldest first.
    for (const [old, atMs] of this.#seen) {
      if (atMs >= sinceMs) break
      this.#seen.delete(old)
    }
    this.#seen.set(uid, failure.atMs)
    onFailure(failure)
  }
}
