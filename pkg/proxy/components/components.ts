import { isDeepStrictEqual } from 'node:util'
import type { KeyPair } from '../../certs/issue.ts'
import { type KubeClient, mergePatch } from '../../kubeclient/client.ts'
import { isRecord, type KubeObject } from '../../kubeclient/object/object.ts'
import { byName, Informer, type StoreChange } from '../../kubeclient/watch/informer.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { type ParsedComponent, parseComponent } from './component.ts'
import { type Availability, checkComponent } from './component-health.ts'
import { type ComponentUpstream, createComponentUpstream } from './component-upstream.ts'

export type ComponentsOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly logger: Logger
  readonly isReserved: (group: string) => boolean
  /** Returns the front-proxy client certificate; undefined until it has been created. */
  readonly pair: () => KeyPair | undefined
}

type Entry = {
  readonly object: KubeObject
  readonly pair: KeyPair | undefined
  /** The component, or why the APIService is invalid. */
  readonly parsed: ParsedComponent
  readonly upstream: ComponentUpstream | undefined
}

const version = 'v1alpha1'
const checkEveryMs = 10_000

/**
 * The component APIs under /kapis/{group}/{version}: watches APIServices of extensions.<group
 * domain>, checks each component every few seconds, and writes the result to its status.
 */
export class Components {
  readonly #options: ComponentsOptions
  readonly #path: string
  /** By name of the APIService, in the format `<version>.<group>`. */
  readonly #apis: Informer<Entry>
  #timer: NodeJS.Timeout | undefined

  constructor(options: ComponentsOptions) {
    this.#options = options
    this.#path = `/apis/extensions.${options.groupDomain}/${version}/apiservices`
    this.#apis = new Informer({
      ...options,
      path: this.#path,
      what: 'the APIServices of components',
      key: byName,
      parse: (object, before) => this.#toEntry(object, before),
      onChange: changes => this.#changed(changes),
    })
  }

  start(): void {
    void this.#apis.start()
    this.#timer = setInterval(() => {
      for (const entry of this.#apis.all()) void this.#check(entry)
    }, checkEveryMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#apis.stop()
    for (const { upstream } of this.#apis.all()) upstream?.close()
  }

  find(group: string, version: string): ComponentUpstream | undefined {
    return this.#apis.get(`${version}.${group}`)?.upstream
  }

  /** Opens new connections with the new certificate; old ones end with their requests. */
  certificateChanged(): void {
    this.#changed([...this.#apis.all()].flatMap(({ object }) => this.#apis.put(object)))
  }

  #toEntry(object: KubeObject, before: Entry | undefined): Entry {
    const pair = this.#options.pair()
    // Connections are kept after a change of the status alone: it does not affect requests.
    if (before !== undefined && before.pair === pair && isDeepStrictEqual(before.object.spec, object.spec))
      return { ...before, object }
    const parsed = parseComponent(object, this.#options.isReserved)
    if ('reason' in parsed) return { object, pair, parsed, upstream: undefined }
    const ofClient = parsed.url.protocol === 'https:' ? pair : undefined
    return { object, pair, parsed, upstream: createComponentUpstream(parsed, ofClient) }
  }

  #changed(changes: readonly StoreChange<Entry>[]): void {
    for (const { before, after } of changes) {
      if (before?.upstream !== after?.upstream) before?.upstream?.close()
      if (after === undefined || before?.parsed === after.parsed) continue
      const { parsed, object } = after
      if ('reason' in parsed) {
        const { reason, message } = parsed
        this.#options.logger.warn(
          { component: object.metadata.name, why: message },
          'invalid APIService of a component',
        )
        void this.#write(after, { status: 'False', reason, message })
      } else void this.#check(after)
    }
  }

  async #check(entry: Entry): Promise<void> {
    const { upstream } = entry
    if (upstream === undefined) return
    const availability = await checkComponent(upstream)
    const current = this.#apis.get(entry.object.metadata.name)
    if (current?.upstream === upstream) await this.#write(current, availability)
  }

  /** Writes the condition if it differs; all replicas observe the same health. */
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
    await client
      .call(mergePatch(path, body))
      .catch(err =>
        logger.warn({ err, component: object.metadata.name }, 'failed to update the status of a component'),
      )
  }
}

function availableCondition({ status }: KubeObject): Readonly<Record<string, unknown>> | undefined {
  const conditions = isRecord(status) && Array.isArray(status.conditions) ? status.conditions : []
  return conditions.filter(isRecord).find(({ type }) => type === 'Available')
}
