import { Status } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { Reflector } from '../../kubeclient/watch/reflector.ts'
import type { WatchEvent } from '../../kubeclient/watch/watch.ts'
import type { Logger } from '../../telemetry/logger.ts'
import {
  apiServiceName,
  apiServicesPath,
  caBundleOf,
  describeService,
  driftOf,
  isOurs,
  type Registration,
  type ServiceReference,
  toApiService,
} from './api-service.ts'
import { createCaBundleMerge } from './ca-bundle-merge.ts'

export type ApiServiceReconcilerOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly service: ServiceReference
  /** Returns the CAs of the serving certificate as PEM; '' until it has been loaded. */
  readonly caBundle: () => string
  /**
   * Time for which an unknown CA in caBundle is kept in addition to its own CA (see
   * ca-bundle-merge.ts); 0 to remove it immediately.
   */
  readonly keepOthersMs: number
  /** Returns whether Kapis is being uninstalled; a deleted APIService is then not created again. */
  readonly isTerminating: () => Promise<boolean>
  /**
   * Delay between a deletion and the check whether Kapis is being uninstalled: `kubectl delete`
   * removes the objects of Kapis one by one, the APIService first.
   */
  readonly goneMs?: number
  readonly logger: Logger
}

// Corrections are immediate, but delayed increasingly if another program changes it back.
const delayMs = { first: 100, max: 30_000 }
const promptWrites = 10
const usualGoneMs = 2_000
const quietMs = 60_000
// setTimeout fires immediately for a longer time.
const maxTimerMs = 2 ** 31 - 1

/**
 * Registers Kapis at kube-apiserver and maintains the registration: creates the APIService if it is
 * missing, corrects it if it drifts, and leaves it unchanged if it belongs to another server. The
 * APIService is not deleted when the process ends, since other replicas continue to serve.
 */
export class ApiServiceReconciler {
  readonly #options: ApiServiceReconcilerOptions
  readonly #reflector: Reflector
  readonly #merge: ReturnType<typeof createCaBundleMerge>
  readonly #name: string

  /** undefined until the state is known; null if the APIService does not exist. */
  #current: KubeObject | null | undefined
  #problem: string | undefined = 'not registered yet'
  #writes = { count: 0, lastMs: 0 }
  #timer: NodeJS.Timeout | undefined
  #isBusy = false
  #isStopped = false

  constructor(options: ApiServiceReconcilerOptions) {
    this.#options = options
    this.#name = apiServiceName(options.groupDomain)
    this.#merge = createCaBundleMerge(options.keepOthersMs)
    this.#reflector = new Reflector({
      client: options.client,
      path: apiServicesPath,
      query: { fieldSelector: `metadata.name=${this.#name}` },
      handler: {
        replace: items => this.#observe(items.find(({ metadata }) => metadata.name === this.#name) ?? null),
        apply: events => this.#apply(events),
        failed: err => options.logger.warn({ err, apiService: this.#name }, 'failed to watch the APIService'),
      },
    })
  }

  start(): void {
    void this.#reflector.start()
  }

  /** Must be called when the CA has changed; updates the registration immediately. */
  caChanged(): void {
    this.#schedule(0)
  }

  /** Returns why Kapis is not registered; undefined if it is. */
  problem(): string | undefined {
    return this.#problem
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#reflector.stop()
  }

  #apply(events: readonly WatchEvent[]): void {
    for (const { type, object } of events) {
      if (type === 'BOOKMARK' || object.metadata.name !== this.#name) continue
      if (type === 'DELETED') this.#observe(null, this.#options.goneMs ?? usualGoneMs)
      else this.#observe(object)
    }
  }

  #observe(current: KubeObject | null, waitMs = 0): void {
    this.#current = current
    this.#schedule(waitMs)
  }

  #schedule(waitMs: number): void {
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#reconcile(), Math.max(waitMs, this.#restMs()))
  }

  /** Returns the delay before the next write in milliseconds. */
  #restMs(): number {
    const sinceMs = performance.now() - this.#writes.lastMs
    if (sinceMs > quietMs) this.#writes.count = 0
    if (this.#writes.count === 0) return 0
    const waitMs = delayMs.first * 2 ** Math.max(0, this.#writes.count - promptWrites)
    return Math.max(0, Math.min(waitMs, delayMs.max) - sinceMs)
  }

  async #reconcile(): Promise<void> {
    const current = this.#current
    const { groupDomain, service, logger } = this.#options
    const own = this.#options.caBundle()
    if (this.#isBusy || this.#isStopped || current === undefined) return
    if (own === '') {
      this.#problem = 'the serving certificate has not been loaded yet'
      return
    }
    if (current !== null && !isOurs(current, service)) {
      const problem = `the APIService ${this.#name} belongs to ${describeService(current)}; delete it to let Kapis register itself`
      if (problem !== this.#problem) logger.error({ apiService: this.#name }, problem)
      this.#problem = problem
      return
    }
    const { pem, lookAgainMs } = this.#merge(own, current === null ? '' : caBundleOf(current))
    const registration = { groupDomain, service, caBundle: pem }
    const drift = current === null ? ['everything'] : driftOf(current, registration)
    if (drift.length === 0) {
      this.#problem = undefined
      if (lookAgainMs !== undefined) this.#schedule(Math.min(lookAgainMs, maxTimerMs))
      return
    }
    this.#isBusy = true
    await this.#write(registration, current, drift)
    this.#isBusy = false
    // Handles a state that was observed during the write; the watch delivers the written one.
    if (this.#current !== current) this.#schedule(0)
  }

  async #write(
    registration: Registration,
    current: KubeObject | null,
    drift: readonly string[],
  ): Promise<void> {
    const { client, logger } = this.#options
    this.#writes = { count: this.#writes.count + 1, lastMs: performance.now() }
    try {
      if (current === null && (await this.#options.isTerminating())) {
        this.#problem = `the APIService ${this.#name} was deleted and Kapis is being uninstalled; it is not created again`
        return
      }
      await client.call({
        method: current === null ? 'POST' : 'PUT',
        path: current === null ? apiServicesPath : `${apiServicesPath}/${this.#name}`,
        body: toApiService(registration, current ?? undefined),
      })
      this.#problem = undefined
      logger.info(
        { apiService: this.#name, drift },
        current === null ? 'registered' : 'updated the APIService',
      )
    } catch (error) {
      // A conflict is not an error: the watch delivers the new state, which is then compared again.
      const isRace = error instanceof Status && (error.code === 409 || error.code === 404)
      if (!isRace) {
        this.#problem = `failed to update the APIService ${this.#name}: ${error instanceof Error ? error.message : error}`
        logger.warn({ err: error, apiService: this.#name }, 'failed to register the APIService')
      }
      this.#schedule(delayMs.first)
    }
  }
}

export function createApiServiceReconciler(options: ApiServiceReconcilerOptions): ApiServiceReconciler {
  return new ApiServiceReconciler(options)
}
