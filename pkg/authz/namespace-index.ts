import type { KubeClient } from '../kube/client.ts'
import { Reflector } from '../kube/reflector.ts'
import { unavailable } from '../status/status.ts'
import type { Logger } from '../telemetry/logger.ts'

/** The namespaces that there are, each with the time of its creation in whole seconds since 1970. */
export class NamespaceIndex {
  readonly #created = new Map<string, number>()
  readonly #reflector: Reflector
  #synced = false

  constructor({ client, logger }: { client: KubeClient; logger: Logger }) {
    const put = ({ metadata }: { metadata: { name: string; creationTimestamp: string } }) => {
      this.#created.set(metadata.name, Math.floor(Date.parse(metadata.creationTimestamp) / 1000))
    }
    this.#reflector = new Reflector({
      client,
      path: '/api/v1/namespaces',
      sink: {
        replace: items => {
          this.#created.clear()
          for (const item of items) put(item)
        },
        apply: events => {
          for (const { type, object } of events) {
            if (type === 'DELETED') this.#created.delete(object.metadata.name)
            else if (type !== 'BOOKMARK') put(object)
          }
        },
        failed: err => logger.warn({ err }, 'watching namespaces failed'),
      },
    })
  }

  async start(): Promise<void> {
    await this.#reflector.start()
    this.#synced = true
  }

  stop(): void {
    this.#reflector.stop()
  }

  /** @throws Status 503 before the first state */
  get created(): ReadonlyMap<string, number> {
    if (!this.#synced) throw unavailable('namespaces are still being read from the orchestrator')
    return this.#created
  }
}
