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
import { createOtherAuthorities } from './ca-bundle-merge.ts'

export type ApiServiceReconcilerOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly service: ServiceReference
  /** CAs of the serving certificate as PEM; '' before there are any. */
  readonly caBundle: () => string
  /**
   * How long a CA that is found in caBundle is kept next to the own one (see ca-bundle-merge.ts); 0
   * for not at all.
   */
  readonly keepOthersMs: number
  /** Returns whether Kapis is being uninstalled: then a deleted APIService is not created again. */
  readonly isTerminating: () => Promise<boolean>
  /**
   * How long to wait after a deletion before checking whether Kapis is being uninstalled: `kubectl
   * delete` removes its objects one by one, the APIService first.
   */
  readonly goneMs?: number
  readonly logger: Logger
}

// Corrections are immediate, unless something keeps changing the object: then they slow down until
// it stops.
const delayMs = { first: 100, max: 30_000 }
const promptWrites = 10
const usualGoneMs = 2_000
const quietMs = 60_000
// Longer timeouts would fire immediately.
const maxTimerMs = 2 ** 31 - 1

/**
 * Registers Kapis at kube-apiserver and keeps it registered: creates the APIService if it is
 * missing, corrects it if it drifts, and leaves it alone if it belongs to another server. It stays
 * when the process ends, since other replicas keep serving.
 */
export class ApiServiceReconciler {
  readonly #options: ApiServiceReconcilerOptions
  readonly #reflector: Reflector
  readonly #merge: ReturnType<typeof createOtherAuthorities>
  readonly #name: string

  /** undefined before the first state; null if it does not exist. */
  #current: KubeObject | null | undefined
  #problem: string | undefined = 'not registered yet'
  #writes = { count: 0, lastMs: 0 }
  #timer: NodeJS.Timeout | undefined
  #isBusy = false
  #isStopped = false

  constructor(options: ApiServiceReconcilerOptions) {
    this.#options = options
    this.#name = apiServiceName(options.groupDomain)
    this.#merge = createOtherAuthorities(options.keepOthersMs)
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

  /** Must be called when the CA has changed; the registration is updated immediately. */
  caChanged(): void {
    this.#schedule(0)
  }

  /** Why Kapis is not registered; undefined when it is. */
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

  /** How long to delay the next write. */
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
    // Handles states observed in the meantime; the watch delivers what was written.
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
      // A conflict: the watch delivers the new state, and it is compared again.
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
