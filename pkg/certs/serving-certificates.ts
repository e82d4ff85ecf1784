import { X509Certificate } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { KubeClient } from '../kube/client.ts'
import { Reflector } from '../kube/reflector.ts'
import type { Logger } from '../telemetry/logger.ts'
import { type Names, unfitness } from './fitness.ts'
import { createAuthority, issueCertificate, type KeyPair } from './issue.ts'
import { readPair, type StoredPair, secretsPath, writePair } from './pair-secret.ts'

export type ServingMaterial = {
  readonly certPem: string
  readonly keyPem: string
  readonly bundlePem: string
}

const authoritySecret = 'kapis-ca'
const servingSecret = 'kapis-serving'
const authorityDays = 3650
const servingDays = 90
const checkEveryMs = 60 * 60_000
const warnBeforeMs = 30 * 24 * 3600_000

export type ServingOptions = {
  readonly client: KubeClient
  readonly config: Pick<Config, 'kubernetes' | 'service' | 'tls'>
  readonly logger: Logger
}

/**
 * The authority and the serving pair, kept in Secrets so that all replicas show the same. An authority that is there is
 * used, whoever made it; a serving pair is renewed long before its end, by whichever replica is first, and all reload it.
 */
export class ServingCertificates {
  readonly #options: ServingOptions
  readonly #listeners = new Set<() => void>()
  readonly #reflector: Reflector
  #current: ServingMaterial | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: ServingOptions) {
    this.#options = options
    const { client, config, logger } = options
    this.#reflector = new Reflector({
      client,
      path: secretsPath(config.kubernetes.namespace),
      query: { fieldSelector: `metadata.name=${servingSecret}` },
      sink: {
        replace: () => undefined,
        apply: events => {
          if (events.some(({ type }) => type !== 'BOOKMARK')) this.#refresh()
        },
        failed: err => logger.warn({ err, secret: servingSecret }, 'cannot watch the serving certificate'),
      },
    })
  }

  /** Resolves once there is a pair to serve with. @throws Status, Error when there cannot be one yet */
  async start(): Promise<void> {
    await this.#ensure()
    void this.#reflector.start()
    this.#timer = setInterval(() => this.#refresh(), checkEveryMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#reflector.stop()
  }

  /** @throws Error before start */
  current(): ServingMaterial {
    if (this.#current === undefined) throw new Error('there is no serving certificate yet')
    return this.#current
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  #refresh(): void {
    this.#ensure().catch(err =>
      this.#options.logger.warn({ err }, 'the serving certificate cannot be refreshed; the last one stays'),
    )
  }

  async #ensure(): Promise<void> {
    const authority = await this.#ensureAuthority()
    const serving = await this.#ensureServing(authority)
    const next = { certPem: serving.certPem, keyPem: serving.keyPem, bundlePem: authority.certPem }
    const old = this.#current
    if (old?.certPem === next.certPem && old.bundlePem === next.bundlePem) return
    this.#current = next
    for (const listener of this.#listeners) listener()
  }

  async #ensureAuthority(): Promise<StoredPair> {
    const { client, config, logger } = this.#options
    const { namespace } = config.kubernetes
    const found = await readPair(client, namespace, authoritySecret)
    if (found === undefined) {
      const pair = createAuthority({ commonName: 'kapis', validityDays: authorityDays })
      if (await writePair(client, { namespace, name: authoritySecret, pair, old: undefined })) {
        logger.info({ secret: authoritySecret }, 'made the certificate authority')
      }
      return this.#ensureAuthority()
    }
    const until = new X509Certificate(found.certPem).validToDate
    if (until.getTime() - Date.now() < warnBeforeMs)
      logger.warn({ secret: authoritySecret, until }, 'the certificate authority expires soon')
    return found
  }

  async #ensureServing(authority: StoredPair): Promise<KeyPair> {
    const { client, config, logger } = this.#options
    const { namespace } = config.kubernetes
    const names = toNames(config)
    const found = await readPair(client, namespace, servingSecret)
    const wanted = { names, nowMs: Date.now() }
    const why = found === undefined ? 'there is none' : unfitness(found, authority.certPem, wanted)
    if (found !== undefined && why === undefined) return found
    // What somebody put there on purpose is not overwritten, only complained about.
    if (found !== undefined && !found.isOurs) {
      logger.error(
        { secret: servingSecret, why },
        'the serving certificate is not fit, and was not made here',
      )
      return found
    }
    const [commonName = 'kapis'] = names.dnsNames
    const pair = issueCertificate(authority, {
      commonName,
      ...names,
      usages: ['server'],
      validityDays: servingDays,
    })
    if (await writePair(client, { namespace, name: servingSecret, pair, old: found })) {
      logger.info({ secret: servingSecret, why }, 'made the serving certificate')
      return pair
    }
    return this.#ensureServing(authority)
  }
}

/** kube-apiserver asks for `<service>.<namespace>.svc`, whatever address it dials. */
function toNames({ service, kubernetes, tls }: ServingOptions['config']): Names {
  const inCluster = `${service.name}.${kubernetes.namespace}.svc`
  return {
    dnsNames: [
      ...new Set([inCluster, `${inCluster}.cluster.local`, service.name, 'localhost', ...tls.dnsNames]),
    ],
    ipAddresses: [...new Set(['127.0.0.1', ...tls.ipAddresses])],
  }
}
