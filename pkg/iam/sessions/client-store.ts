import type { Problem } from '../../config/config-error.ts'
import { readSecretDocument } from '../../config/secret-document.ts'
import { parseClientDocument, type RegisteredClient } from '../../config/sections/client.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { byAge, type KubeObject } from '../../kubeclient/object/object.ts'
import { secretsPath } from '../../kubeclient/object/secret.ts'
import { byName, Informer } from '../../kubeclient/watch/informer.ts'
import type { Logger } from '../../telemetry/logger.ts'

export type ClientStoreOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly namespace: string
  readonly logger: Logger
  /** Clients of the configuration, which take precedence over Secrets with the same name. */
  readonly configured: readonly RegisteredClient[]
}

type Entry = { readonly name: string; readonly createdAt: string; readonly registered: RegisteredClient }

/**
 * The OAuth clients of the configuration and of watched Secrets. An invalid Secret is logged and
 * ignored; other clients are not affected.
 */
export class ClientStore {
  readonly #options: ClientStoreOptions
  /** Secrets by name. */
  readonly #secrets: Informer<Entry>
  #clients: ReadonlyMap<string, RegisteredClient>

  constructor(options: ClientStoreOptions) {
    this.#options = options
    this.#secrets = new Informer({
      ...options,
      path: secretsPath(options.namespace),
      query: { labelSelector: `config.${options.groupDomain}/type=oauthclient` },
      what: 'the OAuth clients',
      key: byName,
      parse: secret => this.#parse(secret),
      onChange: () => {
        this.#clients = this.#join()
      },
    })
    this.#clients = this.#join()
  }

  start(): Promise<void> {
    return this.#secrets.start()
  }

  stop(): void {
    this.#secrets.stop()
  }

  get isReady(): boolean {
    return this.#secrets.isReady
  }

  find(name: string): RegisteredClient | undefined {
    return this.#clients.get(name)
  }

  all(): Iterable<RegisteredClient> {
    return this.#clients.values()
  }

  #parse(secret: KubeObject): Entry | undefined {
    const { name, creationTimestamp: createdAt } = secret.metadata
    const problems: Problem[] = []
    const secretType = `config.${this.#options.groupDomain}/oauthclient`
    if (secret.type !== secretType) problems.push({ path: 'type', message: `must be ${secretType}` })
    const document = readSecretDocument(secret, problems)
    const registered = problems.length === 0 ? parseClientDocument(document, problems) : undefined
    if (registered !== undefined && problems.length === 0) return { name, createdAt, registered }
    this.#options.logger.error({ secretName: name, problems }, 'the Secret is not a valid OAuth client')
    return undefined
  }

  #join(): ReadonlyMap<string, RegisteredClient> {
    const { configured, logger } = this.#options
    const clients = new Map(configured.map(each => [each.client.name, each]))
    const isConfigured = new Set(clients.keys())
    for (const { name: secret, registered } of [...this.#secrets.all()].sort(byAge)) {
      const { name } = registered.client
      if (!clients.has(name)) clients.set(name, registered)
      else {
        const winner = isConfigured.has(name) ? 'the configuration' : 'an older Secret'
        logger.warn(
          { secretName: secret, client: name, winner },
          'another client with this name takes precedence',
        )
      }
    }
    return clients
  }
}
