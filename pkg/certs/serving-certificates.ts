import { X509Certificate } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { KubeClient } from '../kubeclient/client.ts'
import { secretsPath } from '../kubeclient/object/secret.ts'
import { Reflector } from '../kubeclient/watch/reflector.ts'
import type { Logger } from '../telemetry/logger.ts'
import { firstCa, planCaRotation, takeStep } from './ca-rotation.ts'
import { type CaSecretLocation, caSecret, readCa, type StoredCa, writeCa } from './ca-secret.ts'
import { issueCertificate, issuedAtMs, type KeyPair } from './issue.ts'
import { type Names, renewalReason } from './renewal-reason.ts'
import { readPair, writePair } from './tls-secret.ts'

export type ServingMaterial = {
  readonly certPem: string
  readonly keyPem: string
  /** All CAs that clients must trust, as PEM. */
  readonly bundlePem: string
}

/** The source of the certificate of kapis-apiserver. */
export type CertificateSource = {
  /** Resolves when a serving certificate is available. @throws Error if none can be issued yet */
  readonly start: () => Promise<void>
  readonly stop: () => void
  /** Returns the current certificate. @throws Error before `start` */
  readonly current: () => ServingMaterial
  readonly onChange: (listener: () => void) => void
}

const servingSecret = 'kapis-serving'
const servingDays = 90
const checkEveryMs = 60 * 60_000
const retryMs = 10_000
const warnBeforeMs = 30 * 24 * 3600_000

export type ServingOptions = {
  readonly client: KubeClient
  readonly config: Pick<Config, 'groupDomain' | 'kubernetes' | 'service' | 'tls'>
  readonly logger: Logger
}

/**
 * The CA and the serving certificate in Secrets that all replicas share. A CA that Kapis created is
 * rotated (see ca-rotation.ts); another CA is not. Serving certificates are renewed long before
 * they expire, by the first replica that is due.
 */
export class ServingCertificates implements CertificateSource {
  readonly #options: ServingOptions
  readonly #place: CaSecretLocation
  readonly #listeners = new Set<() => void>()
  readonly #reflectors: readonly Reflector[]
  #current: ServingMaterial | undefined
  #timer: NodeJS.Timeout | undefined
  #isBusy = false
  #isAskedAgain = false
  #isStopped = false

  constructor(options: ServingOptions) {
    this.#options = options
    const { client, config, logger } = options
    const { namespace } = config.kubernetes
    this.#place = { client, namespace, groupDomain: config.groupDomain }
    this.#reflectors = [caSecret, servingSecret].map(
      secret =>
        new Reflector({
          client,
          path: secretsPath(namespace),
          query: { fieldSelector: `metadata.name=${secret}` },
          handler: {
            replace: () => undefined,
            apply: events => {
              if (events.some(({ type }) => type !== 'BOOKMARK')) this.#refresh()
            },
            failed: err => logger.warn({ err, secret }, 'failed to watch the certificates'),
          },
        }),
    )
  }

  async start(): Promise<void> {
    const dueMs = await this.#ensure()
    for (const reflector of this.#reflectors) void reflector.start()
    this.#checkAt(dueMs)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    for (const reflector of this.#reflectors) reflector.stop()
  }

  current(): ServingMaterial {
    if (this.#current === undefined) throw new Error('the serving certificate has not been loaded yet')
    return this.#current
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  #checkAt(dueMs: number): void {
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    const waitMs = Math.min(Math.max(dueMs - Date.now(), 0), checkEveryMs)
    this.#timer = setTimeout(() => this.#refresh(), waitMs)
    this.#timer.unref()
  }

  #refresh(): void {
    // Events come in bursts, and each refresh reads everything: one more is enough.
    this.#isAskedAgain = this.#isBusy
    if (this.#isBusy) return
    this.#isBusy = true
    void this.#ensure()
      .catch(err => {
        this.#options.logger.warn({ err }, 'failed to renew the certificates; the previous ones stay in use')
        return Date.now() + retryMs
      })
      .then(dueMs => {
        this.#isBusy = false
        if (this.#isAskedAgain) this.#refresh()
        else this.#checkAt(dueMs)
      })
  }

  /** Performs the next step. @returns the time of the next check */
  async #ensure(): Promise<number> {
    const ca = await this.#ensureAuthority()
    const serving = await this.#ensureServing(ca)
    this.#use({ certPem: serving.certPem, keyPem: serving.keyPem, bundlePem: ca.trusted.join('') })
    return this.#rollOver(ca, serving)
  }

  #use(next: ServingMaterial): void {
    const old = this.#current
    if (old?.certPem === next.certPem && old.bundlePem === next.bundlePem) return
    this.#current = next
    for (const listener of this.#listeners) listener()
  }

  /** Performs the due step of the rotation; the watch then schedules the next one. */
  async #rollOver(ca: StoredCa, serving: KeyPair): Promise<number> {
    const { config, logger } = this.#options
    const now = new Date()
    if (!ca.isOurs) {
      this.#warnOfEnd(ca)
      return now.getTime() + checkEveryMs
    }
    const isOfCurrent = new X509Certificate(serving.certPem).checkIssued(
      new X509Certificate(ca.current.certPem),
    )
    const plan = planCaRotation(ca, {
      nowMs: now.getTime(),
      overlapMs: config.tls.rolloverSeconds * 1000,
      isRequested: ca.isRotationRequested,
      servingIssuedMs: isOfCurrent ? issuedAtMs(serving.certPem) : undefined,
    })
    if (plan.step === undefined) return plan.dueMs
    if (await writeCa(this.#place, takeStep(plan.step, ca, now), ca))
      logger.info({ secretName: caSecret, step: plan.step }, 'CA rotation in progress')
    return now.getTime()
  }

  #warnOfEnd({ current }: StoredCa): void {
    const until = new X509Certificate(current.certPem).validToDate
    if (until.getTime() - Date.now() < warnBeforeMs)
      this.#options.logger.warn({ secretName: caSecret, until }, 'the CA certificate expires soon')
  }

  async #ensureAuthority(): Promise<StoredCa> {
    const found = await readCa(this.#place)
    if (found !== undefined) return found
    if (await writeCa(this.#place, firstCa(new Date()), undefined))
      this.#options.logger.info({ secretName: caSecret }, 'created the CA')
    return this.#ensureAuthority()
  }

  async #ensureServing(ca: StoredCa): Promise<KeyPair> {
    const { client, config, logger } = this.#options
    const secretRef = { namespace: config.kubernetes.namespace, name: servingSecret }
    const names = toNames(config)
    const found = await readPair(client, secretRef)
    const required = { names, nowMs: Date.now() }
    const why = found === undefined ? 'there is none' : renewalReason(found, ca.current.certPem, required)
    if (found !== undefined && why === undefined) return found
    // A certificate that Kapis did not issue is not overwritten; the problem is only logged.
    if (found !== undefined && !found.isOurs) {
      logger.error(
        { secretName: servingSecret, why },
        'the serving certificate is not valid, and was not created by Kapis',
      )
      return found
    }
    const [commonName = 'kapis'] = names.dnsNames
    const pair = issueCertificate(ca.current, {
      commonName,
      ...names,
      usages: ['server'],
      validityDays: servingDays,
    })
    if (await writePair(client, secretRef, pair, found)) {
      logger.info({ secretName: servingSecret, why }, 'created the serving certificate')
      return pair
    }
    return this.#ensureServing(ca)
  }
}

/** Returns the names of the certificate; kube-apiserver verifies `<service>.<namespace>.svc`. */
function toNames({ service, kubernetes, tls }: ServingOptions['config']): Names {
  const inCluster = `${service.name}.${kubernetes.namespace}.svc`
  return {
    dnsNames: [
      ...new Set([inCluster, `${inCluster}.cluster.local`, service.name, 'localhost', ...tls.dnsNames]),
    ],
    ipAddresses: [...new Set(['127.0.0.1', ...tls.ipAddresses])],
  }
}
