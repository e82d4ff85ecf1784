import type { Problem } from '../../config/config-error.ts'
import { readSecretDocument } from '../../config/secret-document.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { byAge, isRecord, type KubeObject, parseList } from '../../kubeclient/object/object.ts'
import { secretsPath } from '../../kubeclient/object/secret.ts'
import { byName, Informer } from '../../kubeclient/watch/informer.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { type ProviderConfig, readProviderConfig } from './config.ts'
import type { ProviderClient } from './external-identity.ts'
import type { ProviderState } from './provider-reconciler.ts'

export type Provider = { readonly config: ProviderConfig; readonly client: ProviderClient }

/** The Secret of a provider, with the provider or the reason why it is invalid. */
export type ProviderEntry = {
  /** Name of the Secret. */
  readonly name: string
  readonly resourceVersion: string
  readonly createdAt: string
  readonly provider: Provider | undefined
  readonly problems: readonly Problem[]
  readonly claim: Claim
}

/** The provider name and state of a Secret; no name if it cannot be read. */
type Claim = { readonly name: string | undefined; readonly state: ProviderState }

export type ProviderStoreOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly namespace: string
  readonly logger: Logger
  readonly createProviderClient: (config: ProviderConfig) => ProviderClient
  /** Called when a Secret is added, removed or changed. */
  readonly onChange?: () => void
}

const purpose = 'identityprovider'

/**
 * Watches the identity providers in Secrets of the namespace of Kapis. Changes are effective on all
 * replicas within a moment. An invalid Secret disables only its own provider. The previous
 * configuration is not used, since the change may revoke trust.
 */
export class ProviderStore {
  readonly #options: ProviderStoreOptions
  readonly #path: string
  readonly #query: { readonly labelSelector: string }
  readonly #secrets: Informer<ProviderEntry>
  #providers: ReadonlyMap<string, Provider> = new Map()
  /** Names that several Secrets use; each is logged once. */
  #doubles: ReadonlySet<string> = new Set()

  constructor(options: ProviderStoreOptions) {
    this.#options = options
    this.#path = secretsPath(options.namespace)
    this.#query = { labelSelector: `config.${options.groupDomain}/type=${purpose}` }
    this.#secrets = new Informer({
      ...options,
      path: this.#path,
      query: this.#query,
      what: 'identity providers',
      key: byName,
      parse: (secret, before) => this.#toEntry(secret, before),
      onChange: changes => {
        for (const { before, after } of changes) this.#log(before, after)
        this.#choose()
        options.onChange?.()
      },
    })
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

  /** Returns a usable provider; undefined if it is missing, disabled or invalid. */
  get(name: string): Provider | undefined {
    return this.#providers.get(name)
  }

  /** Returns all usable providers. */
  all(): Iterable<Provider> {
    return this.#providers.values()
  }

  /** Returns an entry for each Secret, including invalid Secrets. */
  entries(): Iterable<ProviderEntry> {
    return this.#secrets.all()
  }

  stateOf(name: string): ProviderState {
    return toState(
      [...this.#secrets.all()].map(({ claim }) => claim),
      name,
    )
  }

  /**
   * Reads the current states from kube-apiserver, since the watch may be delayed.
   *
   * @throws Status
   */
  async readStates(): Promise<(name: string) => ProviderState> {
    const path = `${this.#path}?${new URLSearchParams(this.#query)}`
    const { items } = parseList(await this.#options.client.call({ path }))
    const claims = (items ?? []).map(secret => this.#parse(secret, []).claim)
    return name => toState(claims, name)
  }

  #toEntry(secret: KubeObject, before: ProviderEntry | undefined): ProviderEntry {
    const { name, resourceVersion, creationTimestamp: createdAt } = secret.metadata
    // The Secret is unchanged: its client is kept with its cached metadata.
    if (before?.resourceVersion === resourceVersion) return before
    const problems: Problem[] = []
    const { config, claim } = this.#parse(secret, problems)
    const provider = config && { config, client: this.#options.createProviderClient(config) }
    return { name, resourceVersion, createdAt, provider, problems, claim }
  }

  #log(before: ProviderEntry | undefined, after: ProviderEntry | undefined): void {
    const { logger } = this.#options
    if (after === undefined) {
      logger.info({ secretName: before?.name }, 'identity provider removed')
      return
    }
    const { name: secretName, provider, problems } = after
    if (provider === undefined) {
      logger.error({ secretName, problems }, 'invalid configuration of an identity provider')
      return
    }
    const { name, type, disabled } = provider.config
    logger.info({ secretName, provider: name, type, disabled }, 'identity provider configured')
    if (type === 'LDAPIdentityProvider' && provider.config.provider.security === 'none')
      logger.warn(
        { secretName, provider: name },
        'passwords are sent to the LDAP server in clear text: set startTLS',
      )
  }

  #parse(secret: KubeObject, problems: Problem[]): { config: ProviderConfig | undefined; claim: Claim } {
    const type = `config.${this.#options.groupDomain}/${purpose}`
    if (secret.type !== type) problems.push({ path: 'type', message: `of the Secret must be ${type}` })
    const document = readSecretDocument(secret, problems)
    const config = problems.length > 0 ? undefined : readProviderConfig(document, problems)
    if (config !== undefined)
      return { config, claim: { name: config.name, state: config.disabled ? 'disabled' : 'usable' } }
    const name = isRecord(document) && typeof document.name === 'string' ? document.name : undefined
    return { config, claim: { name, state: 'unknown' } }
  }

  /**
   * Selects the provider of each name. If several Secrets have the same name, the oldest is used: a
   * new Secret must not take over the users of a provider.
   */
  #choose(): void {
    const providers = new Map<string, Provider>()
    const taken = new Map<string, string>()
    const doubles = new Set<string>()
    for (const { name: secret, provider } of [...this.#secrets.all()].sort(byAge)) {
      if (provider === undefined) continue
      const { name, disabled } = provider.config
      const holder = taken.get(name)
      if (holder !== undefined) {
        doubles.add(secret)
        if (!this.#doubles.has(secret))
          this.#options.logger.error(
            { secretName: secret, provider: name, holder },
            'duplicate name of an identity provider',
          )
        continue
      }
      taken.set(name, secret)
      if (!disabled) providers.set(name, provider)
    }
    this.#doubles = doubles
    this.#providers = new Map([...providers].sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

/**
 * Returns the state of a provider. A valid Secret takes precedence over invalid Secrets. An invalid
 * Secret without a name may belong to any provider.
 */
function toState(claims: readonly Claim[], name: string): ProviderState {
  const states = claims.filter(claim => (claim.name ?? name) === name).map(({ state }) => state)
  return (['usable', 'disabled', 'unknown'] as const).find(each => states.includes(each)) ?? 'gone'
}
