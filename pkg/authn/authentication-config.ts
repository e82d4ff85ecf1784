import type { X509Certificate } from 'node:crypto'
import type { KubeClient } from '../kubeclient/client.ts'
import { isRecord, type KubeObject } from '../kubeclient/object/object.ts'
import { Reflector } from '../kubeclient/watch/reflector.ts'
import type { Logger } from '../telemetry/logger.ts'
import { parseBundle } from './certificate-chain.ts'

/** The published configuration for extension API servers. Headers are in lower case. */
export type AuthenticationConfig = {
  readonly clientAuthorities: readonly X509Certificate[]
  readonly proxyAuthorities: readonly X509Certificate[]
  /** Both CA bundles as PEM, whose names TLS sends to clients. */
  readonly pems: readonly string[]
  /** Accepted common names of the front proxy; empty if any name is accepted. */
  readonly allowedNames: readonly string[]
  readonly usernameHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly extraHeaderPrefixes: readonly string[]
}

const name = 'extension-apiserver-authentication'

/** Watches the ConfigMap by name, as its Role requires, and keeps the last valid content. */
export class AuthenticationConfigSource {
  readonly #reflector: Reflector
  readonly #listeners = new Set<() => void>()
  readonly #loaded = Promise.withResolvers<void>()
  readonly #logger: Logger
  #current: AuthenticationConfig | undefined

  constructor({ client, logger }: { client: KubeClient; logger: Logger }) {
    this.#logger = logger
    this.#reflector = new Reflector({
      client,
      path: '/api/v1/namespaces/kube-system/configmaps',
      query: { fieldSelector: `metadata.name=${name}` },
      handler: {
        replace: items => this.#load(items.at(0)),
        apply: events => {
          for (const { type, object } of events)
            if (type === 'ADDED' || type === 'MODIFIED') this.#load(object)
        },
        failed: err =>
          logger.warn({ err, configMap: name }, 'failed to watch the authentication configuration'),
      },
    })
  }

  /** Resolves after the first read of the ConfigMap. */
  async start(): Promise<void> {
    void this.#reflector.start()
    await this.#loaded.promise
  }

  stop(): void {
    this.#reflector.stop()
  }

  current(): AuthenticationConfig | undefined {
    return this.#current
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  #load(configMap: KubeObject | undefined): void {
    if (configMap === undefined) return
    try {
      this.#current = parseAuthenticationConfig(isRecord(configMap.data) ? configMap.data : {})
    } catch (err) {
      this.#logger.error(
        { err, configMap: name },
        'failed to read the authentication configuration; the previous one stays in use',
      )
      return
    }
    this.#loaded.resolve()
    for (const listener of this.#listeners) listener()
  }
}

/** @throws Error with the key that cannot be parsed */
export function parseAuthenticationConfig(data: Readonly<Record<string, unknown>>): AuthenticationConfig {
  const pem = (key: string) => (typeof data[key] === 'string' ? data[key] : '')
  const headers = (key: string) => strings(data, key).map(header => header.toLowerCase())
  const clientPem = pem('client-ca-file')
  const proxyPem = pem('requestheader-client-ca-file')
  return {
    clientAuthorities: bundle('client-ca-file', clientPem),
    proxyAuthorities: bundle('requestheader-client-ca-file', proxyPem),
    pems: [clientPem, proxyPem].filter(text => text !== ''),
    allowedNames: strings(data, 'requestheader-allowed-names'),
    usernameHeaders: headers('requestheader-username-headers'),
    groupHeaders: headers('requestheader-group-headers'),
    uidHeaders: headers('requestheader-uid-headers'),
    extraHeaderPrefixes: headers('requestheader-extra-headers-prefix'),
  }
}

function bundle(key: string, pem: string): readonly X509Certificate[] {
  try {
    return parseBundle(pem)
  } catch (error) {
    throw new Error(`${key} is not a PEM bundle of certificates`, { cause: error })
  }
}

function strings(data: Readonly<Record<string, unknown>>, key: string): readonly string[] {
  const text = data[key]
  if (typeof text !== 'string' || text === '') return []
  const parsed: unknown = JSON.parse(text)
  if (!Array.isArray(parsed) || !parsed.every(item => typeof item === 'string'))
    throw new Error(`${key} is not a list of strings`)
  return parsed
}
