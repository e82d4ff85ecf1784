import { parseClientDocument, type RegisteredClient } from '../config/client.ts'
import type { Problem } from '../config/problem.ts'
import { readSecretDocument } from '../config/secret-document.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeObject } from '../kube/object.ts'
import { Reflector } from '../kube/reflector.ts'
import type { Logger } from '../telemetry/logger.ts'

export type ClientStoreOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly namespace: string
  readonly logger: Logger
  /** Those of the configuration; they win over a Secret's of the same name. */
  readonly configured: readonly RegisteredClient[]
}

type Entry = { readonly secret: string; readonly createdAt: string; readonly registered: RegisteredClient }

/**
 * The OAuth clients there are: those of the configuration and those of Secrets, which are watched. A Secret that is not
 * right has no client, and says in the log why; the others go on.
 */
export class ClientStore {
  readonly #options: ClientStoreOptions
  readonly #reflector: Reflector
  /** By the name of the Secret. */
  readonly #entries = new Map<string, Entry>()
  #clients: ReadonlyMap<string, RegisteredClient>
  #isReady = false

  constructor(options: ClientStoreOptions) {
    this.#options = options
    this.#clients = this.#join()
    this.#reflector = new Reflector({
      client: options.client,
      path: `/api/v1/namespaces/${options.namespace}/secrets`,
      query: { labelSelector: `config.${options.groupDomain}/type=oauthclient` },
      sink: {
        replace: secrets => {
          this.#entries.clear()
          for (const secret of secrets) this.#put(secret)
          this.#clients = this.#join()
          this.#isReady = true
        },
        apply: events => {
          const changes = events.filter(({ type }) => type !== 'BOOKMARK')
          for (const { type, object } of changes) {
            if (type === 'DELETED') this.#entries.delete(object.metadata.name)
            else this.#put(object)
          }
          if (changes.length > 0) this.#clients = this.#join()
        },
        failed: err => options.logger.warn({ err }, 'cannot watch the OAuth clients'),
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

  find(name: string): RegisteredClient | undefined {
    return this.#clients.get(name)
  }

  all(): Iterable<RegisteredClient> {
    return this.#clients.values()
  }

  #put(secret: KubeObject): void {
    const { name, creationTimestamp: createdAt } = secret.metadata
    const problems: Problem[] = []
    const registered = this.#parse(secret, problems)
    if (registered !== undefined && problems.length === 0) {
      this.#entries.set(name, { secret: name, createdAt, registered })
      return
    }
    this.#entries.delete(name)
    this.#options.logger.error({ secretName: name, problems }, 'the Secret is no OAuth client')
  }

  #parse(secret: KubeObject, problems: Problem[]): RegisteredClient | undefined {
    const wanted = `config.${this.#options.groupDomain}/oauthclient`
    if (secret.type !== wanted) problems.push({ path: 'type', message: `must be ${wanted}` })
    const document = readSecretDocument(secret, problems)
    return problems.length === 0 ? parseClientDocument(document, problems) : undefined
  }

  #join(): ReadonlyMap<string, RegisteredClient> {
    const { configured, logger } = this.#options
    const clients = new Map(configured.map(each => [each.client.name, each]))
    const isConfigured = new Set(clients.keys())
    for (const { secret, registered } of [...this.#entries.values()].sort(byAge)) {
      const { name } = registered.client
      if (!clients.has(name)) clients.set(name, registered)
      else {
        const winner = isConfigured.has(name) ? 'the configuration' : 'an older Secret'
        logger.warn({ secretName: secret, client: name, winner }, 'another client has this name already')
      }
    }
    return clients
  }
}

/** Total, so that all replicas agree. */
function byAge(a: Entry, b: Entry): number {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.secret < b.secret) ? -1 : 1
}
