import { Status } from '../apierrors/status.ts'
import { type KubeClient, mergePatch } from '../kubeclient/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import { createCa, issueCertificate, type KeyPair } from './issue.ts'
import { renewalReason } from './renewal-reason.ts'
import { readPair, type StoredKeyPair, writePair } from './tls-secret.ts'

const caSecret = 'kapis-front-proxy-ca'
const clientSecret = 'kapis-front-proxy-client'
/** The ConfigMap with the CA, like kube-system/extension-apiserver-authentication. */
export const frontProxyConfigMap = 'kapis-front-proxy'
const commonName = 'kapis-front-proxy'
const caDays = 3650
const clientDays = 90
const none = { dnsNames: [], ipAddresses: [] }
const checkEveryMs = 60 * 60_000

export type FrontProxyOptions = {
  readonly client: KubeClient
  readonly namespace: string
  readonly logger: Logger
  /** Names of the identity headers. */
  readonly headers: {
    readonly user: string
    readonly uid: string
    readonly group: string
    readonly extraPrefix: string
  }
}

/**
 * The client certificate that authenticates Kapis to components, which then trust its identity
 * headers. Its CA issues no other certificates, so that no serving certificate can be used to
 * impersonate callers. All replicas share both, and the CA is published for components.
 */
export class FrontProxyCertificates {
  readonly #options: FrontProxyOptions
  readonly #listeners = new Set<() => void>()
  #current: KeyPair | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: FrontProxyOptions) {
    this.#options = options
  }

  /** Issues or reads the certificates. @throws Error if none can be issued yet */
  async start(): Promise<void> {
    await this.#ensure()
    this.#timer = setInterval(() => {
      this.#ensure().catch(err =>
        this.#options.logger.warn(
          { err },
          'failed to renew the front-proxy certificate; the previous one stays in use',
        ),
      )
    }, checkEveryMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Returns the client certificate; undefined before `start`. */
  current(): KeyPair | undefined {
    return this.#current
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  async #ensure(): Promise<void> {
    const ca = await this.#pair(
      caSecret,
      () => true,
      () => createCa({ commonName, validityDays: caDays }),
    )
    const next = await this.#pair(
      clientSecret,
      pair => renewalReason(pair, ca.certPem, { names: none, nowMs: Date.now() }) === undefined,
      () => issueCertificate(ca, { commonName, usages: ['client'], validityDays: clientDays }),
    )
    await this.#publish(ca.certPem)
    if (this.#current?.certPem === next.certPem) return
    this.#current = { certPem: next.certPem, keyPem: next.keyPem }
    for (const listener of this.#listeners) listener()
  }

  /** Returns the stored certificate if it is valid; otherwise stores a new one. */
  async #pair(name: string, isGood: (pair: StoredKeyPair) => boolean, make: () => KeyPair): Promise<KeyPair> {
    const { client, namespace, logger } = this.#options
    const old = await readPair(client, { namespace, name })
    if (old !== undefined && isGood(old)) return old
    const pair = make()
    if (!(await writePair(client, { namespace, name }, pair, old))) return this.#pair(name, isGood, make)
    logger.info({ secretName: name }, 'created a front-proxy certificate')
    return pair
  }

  async #publish(authorityPem: string): Promise<void> {
    const { client, namespace, headers } = this.#options
    const collection = `/api/v1/namespaces/${namespace}/configmaps`
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: frontProxyConfigMap, labels: { 'app.kubernetes.io/managed-by': 'kapis' } },
      data: {
        'requestheader-client-ca-file': authorityPem,
        'requestheader-allowed-names': JSON.stringify([commonName]),
        'requestheader-username-headers': JSON.stringify([headers.user]),
        'requestheader-uid-headers': JSON.stringify([headers.uid]),
        'requestheader-group-headers': JSON.stringify([headers.group]),
        'requestheader-extra-headers-prefix': JSON.stringify([headers.extraPrefix]),
      },
    }
    try {
      await client.call({ method: 'POST', path: collection, body })
    } catch (error) {
      if (!(error instanceof Status) || error.code !== 409) throw error
      await client.call(mergePatch(`${collection}/${frontProxyConfigMap}`, { data: body.data }))
    }
  }
}
