import { unavailable } from '../apierrors/status.ts'
import type { KubeClient } from '../kubeclient/client.ts'
import type { KubeObject } from '../kubeclient/object/object.ts'
import { readSecret, secretData, secretsPath, writeSecret } from '../kubeclient/object/secret.ts'
import { Reflector } from '../kubeclient/watch/reflector.ts'
import type { Logger } from '../telemetry/logger.ts'
import { type KeySet, loadKeySet, parseStoredKeys } from './key-set.ts'
import { parseRetiredKeys, type RetiredKey, retire } from './retired-keys.ts'
import { rotate } from './rotation.ts'

export type KeySourceOptions = {
  readonly client: KubeClient
  readonly namespace: string
  readonly logger: Logger
  readonly groupDomain: string
  /** How long a key signs; not needed by verifiers. */
  readonly rotateAfterSeconds?: number
  /** The usual lifetime of a token: an old key is kept for this long after it was replaced. */
  readonly tokenSeconds: number
  /** Whether any long-lived token was signed between two times. */
  readonly isNeeded?: (fromSeconds: number, untilSeconds: number) => boolean
  /**
   * Returns whether a login is active that got ID tokens between two times: its keys are kept for
   * id_token_hint.
   */
  readonly isRemembered?: (fromSeconds: number, untilSeconds: number) => boolean
  /**
   * Called when new keys are requested, by the annotation or by deleting the Secret; the issuer
   * then creates them.
   */
  readonly onAsked?: () => void
}

export type KeySource = { readonly current: () => KeySet }

const secretName = 'kapis-signing-keys'

/**
 * The signing keys, stored in a Secret and watched, so that all replicas have the same ones. The
 * issuer creates and rotates them (ensure); verifiers only read.
 */
export class SecretKeySource implements KeySource {
  readonly #options: KeySourceOptions
  readonly #reflector: Reflector
  readonly #loaded = Promise.withResolvers<void>()
  #current: KeySet | undefined
  /** Secrets are processed in order, so that an older one does not replace a newer one. */
  #loading: Promise<void> = Promise.resolve()

  constructor(options: KeySourceOptions) {
    this.#options = options
    this.#reflector = new Reflector({
      client: options.client,
      path: secretsPath(options.namespace),
      query: { fieldSelector: `metadata.name=${secretName}` },
      handler: {
        replace: ([secret]) => this.#changed(secret),
        apply: events => {
          const last = events.findLast(({ type }) => type !== 'BOOKMARK')
          if (last !== undefined) this.#changed(last.type === 'DELETED' ? undefined : last.object)
        },
        failed: err => options.logger.warn({ err }, 'failed to watch the signing keys'),
      },
    })
  }

  /** Resolves when there are keys. */
  async start(): Promise<void> {
    void this.#reflector.start()
    await this.#loaded.promise
  }

  stop(): void {
    this.#reflector.stop()
  }

  get isReady(): boolean {
    return this.#current !== undefined
  }

  /** @throws Status 503 before the first keys are there */
  current(): KeySet {
    if (this.#current === undefined)
      throw unavailable('the signing keys have not been loaded yet; retry later')
    return this.#current
  }

  /**
   * Creates the keys if there are none, and rotates them when due. Safe to run on every replica.
   */
  async ensure(nowSeconds = Math.floor(Date.now() / 1000)): Promise<void> {
    const { client, namespace } = this.#options
    const place = { namespace, name: secretName }
    const secret = await readSecret(client, place)
    const stored = secret === undefined ? [] : parseStoredKeys(decode(secret, 'keys.json'))
    const isAsked = this.#isAsked(secret)
    const { tokenSeconds, rotateAfterSeconds } = this.#options
    const { isNeeded = () => false, isRemembered = () => false } = this.#options
    if (rotateAfterSeconds === undefined) throw new Error('rotateAfterSeconds is required to rotate keys')
    const rotation = { nowSeconds, rotateAfterSeconds, tokenSeconds, isNeeded, isAsked }
    const next = (await rotate(stored, rotation)) ?? stored
    const known = secret === undefined ? [] : readRetired(secret)
    const retired = retire(known, { before: stored, after: next }, isRemembered)
    if (next === stored && retired.length === known.length && !isAsked) return
    // An older release reads only the first one.
    const data = { 'keys.json': JSON.stringify(next), 'retired.json': JSON.stringify(retired) }
    // Removes the processed annotation. If another replica was first, its keys arrive through the
    // watch.
    await writeSecret(client, place, { data }, secret?.metadata)
  }

  #isAsked(secret: KubeObject | undefined): boolean {
    return secret?.metadata.annotations?.[`config.${this.#options.groupDomain}/rotate-keys`] !== undefined
  }

  #changed(secret: KubeObject | undefined): void {
    if (secret !== undefined) this.#loading = this.#loading.then(() => this.#load(secret))
    if (this.#current !== undefined && (secret === undefined || this.#isAsked(secret)))
      this.#options.onAsked?.()
  }

  async #load(secret: KubeObject): Promise<void> {
    try {
      this.#current = await loadKeySet(parseStoredKeys(decode(secret, 'keys.json')), readRetired(secret))
      this.#loaded.resolve()
    } catch (error) {
      // The previous keys stay in use: an invalid Secret must not log everybody out.
      const reason =
        error instanceof SyntaxError
          ? 'keys.json is not valid JSON'
          : error instanceof Error
            ? error.message
            : ''
      this.#options.logger.error({ secretName, reason }, 'failed to read the signing keys')
    }
  }
}

function decode(secret: KubeObject, name: string): string {
  return secretData(secret, name)?.toString('utf8') ?? ''
}

function readRetired(secret: KubeObject): readonly RetiredKey[] {
  const text = decode(secret, 'retired.json')
  return text === '' ? [] : parseRetiredKeys(text)
}
