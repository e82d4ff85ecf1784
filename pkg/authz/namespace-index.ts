import type { KubeClient } from '../kube/client.ts'
import type { KubeObject } from '../kube/object.ts'
import { Reflector } from '../kube/reflector.ts'
import { unavailable } from '../status/status.ts'
import type { Logger } from '../telemetry/logger.ts'

export type NamespaceIndexOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly logger: Logger
}

/** The namespaces that there are, each with the time of its creation in whole seconds since 1970, and with its workspace. */
export class NamespaceIndex {
  readonly #created = new Map<string, number>()
  readonly #workspaces = new Map<string, string>()
  readonly #reflector: Reflector
  #synced = false

  constructor({ client, groupDomain, logger }: NamespaceIndexOptions) {
    const label = `${groupDomain}/workspace`
    const put = ({ metadata: { name, creationTimestamp, labels } }: KubeObject) => {
      this.#created.set(name, Math.floor(Date.parse(creationTimestamp) / 1000))
      this.#workspaces.set(name, labels?.[label] ?? '')
    }
    const forget = (name: string) => {
      this.#created.delete(name)
      this.#workspaces.delete(name)
    }
    this.#reflector = new Reflector({
      client,
      path: '/api/v1/namespaces',
      sink: {
        replace: items => {
          this.#created.clear()
          this.#workspaces.clear()
          for (const item of items) put(item)
        },
        apply: events => {
          for (const { type, object } of events) {
            if (type === 'DELETED') forget(object.metadata.name)
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

  /** By namespace; '' for one that is in none. @throws Status 503 before the first state */
  get workspaces(): ReadonlyMap<string, string> {
    if (!this.#synced) throw unavailable('namespaces are still being read from the orchestrator')
    return this.#workspaces
  }
}
