import type { KeyPair } from '../../certs/issue.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { isRecord, type KubeObject } from '../../kubeclient/object/object.ts'
import { Reflector } from '../../kubeclient/watch/reflector.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { type AggregatedApi, parseAggregatedApi } from './aggregated-api.ts'
import { type Availability, checkAggregatedApi } from './api-health.ts'
import { type AggregatedApiUpstream, createAggregatedApiUpstream } from './api-upstream.ts'

export type AggregatedApisOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly logger: Logger
  readonly isReserved: (group: string) => boolean
  /** Returns the front-proxy client certificate; undefined until it has been created. */
  readonly pair: () => KeyPair | undefined
}

type Entry = { readonly object: KubeObject; readonly upstream: AggregatedApiUpstream | undefined }

const version = 'v1alpha1'
const checkEveryMs = 10_000

/**
 * The component APIs under /kapis/{group}/{version}: watches APIServices of extensions.<group
 * domain>, checks each component every few seconds, and writes the result to its status.
 */
export class AggregatedApis {
  readonly #options: AggregatedApisOptions
  readonly #path: string
  readonly #reflector: Reflector
  /** By name of the APIService, in the format `<version>.<group>`. */
  readonly #entries = new Map<string, Entry>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: AggregatedApisOptions) {
    this.#options = options
    this.#path = `/apis/extensions.${options.groupDomain}/${version}/apiservices`
    this.#reflector = new Reflector({
      client: options.client,
      path: this.#path,
      handler: {
        replace: items => {
          const names = new Set(items.map(({ metadata }) => metadata.name))
          for (const name of this.#entries.keys()) if (!names.has(name)) this.#remove(name)
          for (const item of items) this.#put(item)
        },
        apply: events => {
          for (const { type, object } of events) {
            if (type === 'DELETED') this.#remove(object.metadata.name)
            else if (type !== 'BOOKMARK') this.#put(object)
          }
        },
        failed: err => options.logger.warn({ err }, 'failed to watch the APIServices of components'),
      },
    })
  }

  start(): void {
    void this.#reflector.start()
    this.#timer = setInterval(() => {
      for (const entry of this.#entries.values()) void this.#check(entry)
    }, checkEveryMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#reflector.stop()
    for (const name of [...this.#entries.keys()]) this.#remove(name)
  }

  find(group: string, version: string): AggregatedApiUpstream | undefined {
    return this.#entries.get(`${version}.${group}`)?.upstream
  }

  /**
   * Opens new connections with the new certificate. Old connections close when their requests end.
   */
  certificateChanged(): void {
    for (const { object } of [...this.#entries.values()]) {
      this.#remove(object.metadata.name)
      this.#put(object)
    }
  }

  #put(object: KubeObject): void {
    const { name } = object.metadata
    const old = this.#entries.get(name)
    // Connections are kept after a change of the status alone: it does not affect requests.
    if (old !== undefined && JSON.stringify(old.object.spec) === JSON.stringify(object.spec)) {
      this.#entries.set(name, { ...old, object })
      return
    }
    this.#remove(name)
    const component = parseAggregatedApi(object, this.#options.isReserved)
    const upstream = 'url' in component ? this.#connect(component) : undefined
    const entry = { object, upstream }
    this.#entries.set(name, entry)
    if ('reason' in component) {
      this.#options.logger.warn(
        { component: name, why: component.message },
        'invalid APIService of a component',
      )
      void this.#write(entry, { status: 'False', reason: component.reason, message: component.message })
    } else void this.#check(entry)
  }

  #connect(component: AggregatedApi): AggregatedApiUpstream {
    return createAggregatedApiUpstream(
      component,
      component.url.protocol === 'https:' ? this.#options.pair() : undefined,
    )
  }

  #remove(name: string): void {
    this.#entries.get(name)?.upstream?.close()
    this.#entries.delete(name)
  }

  async #check(entry: Entry): Promise<void> {
    const { upstream } = entry
    if (upstream === undefined) return
    const availability = await checkAggregatedApi(upstream)
    const current = this.#entries.get(entry.object.metadata.name)
    if (current?.upstream === upstream) await this.#write(current, availability)
  }

  /**
   * Writes the condition if it differs. All replicas observe the same health, so their writes do
   * not alternate.
   */
  async #write({ object }: Entry, availability: Availability): Promise<void> {
    const old = availableCondition(object)
    const isSame = old?.status === availability.status && old.reason === availability.reason
    if (isSame && old.message === availability.message) return
    const since = old?.status === availability.status ? old.lastTransitionTime : undefined
    const lastTransitionTime = since ?? new Date().toISOString()
    const condition = { type: 'Available', ...availability, lastTransitionTime }
    const { client, logger } = this.#options
    const path = `${this.#path}/${object.metadata.name}/status`
    const body = { status: { conditions: [condition] } }
    const contentType = 'application/merge-patch+json'
    await client
      .call({ method: 'PATCH', path, body, contentType })
      .catch(err =>
        logger.warn({ err, component: object.metadata.name }, 'failed to update the status of a component'),
      )
  }
}

function availableCondition({ status }: KubeObject): Readonly<Record<string, unknown>> | undefined {
  const conditions = isRecord(status) && Array.isArray(status.conditions) ? status.conditions : []
  return conditions.filter(isRecord).find(({ type }) => type === 'Available')
}
