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
  /** How long a key signs, in seconds; verifiers do not need it. */
  readonly rotateAfterSeconds?: number
  /** The usual lifetime of a token in seconds: a replaced key is kept for this long. */
  readonly tokenSeconds: number
  /** Reports whether a long-lived token that was signed between two times is still in use. */
  readonly isNeeded?: (fromSeconds: number, untilSeconds: number) => boolean
  /** Reports whether an active login has ID tokens of a time, whose keys are then kept. */
  readonly isRemembered?: (fromSeconds: number, untilSeconds: number) => boolean
  /** Called when an administrator requests new keys, by annotation or deletion of the Secret. */
  readonly onAsked?: () => void
}

export type KeySource = { readonly current: () => KeySet }

const secretName = 'kapis-signing-keys'

/**
 * The signing keys in a watched Secret, so that all replicas have the same keys. The issuer creates
 * and rotates them (`ensure`); verifiers only read them.
 */
export class SecretKeySource implements KeySource {
  readonly #options: KeySourceOptions
  readonly #reflector: Reflector
  readonly #loaded = Promise.withResolvers<void>()
  #current: KeySet | undefined
  /** Resolves when earlier versions of the Secret are processed and cannot replace newer ones. */
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

  /** Resolves when the keys are loaded. */
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

  /** @throws Status 503 before the first keys are loaded */
  current(): KeySet {
    if (this.#current === undefined)
      throw unavailable('the signing keys have not been loaded yet; retry later')
    return this.#current
  }

  /** Creates the keys if there are none, and rotates them if due. Safe to run on every replica. */
  async ensure(nowSeconds = Math.floor(Date.now() / 1000)): Promise<void> {
    const { client, namespace } = this.#options
    const secretRef = { namespace, name: secretName }
    const secret = await readSecret(client, secretRef)
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
    // keys.json contains the current keys, which is all that older releases read.
    const data = { 'keys.json': JSON.stringify(next), 'retired.json': JSON.stringify(retired) }
    // This removes the processed annotation. If another replica has written the Secret first, the
    // watch delivers its keys.
    await writeSecret(client, secretRef, { data }, secret?.metadata)
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
      // The previous keys stay in use: an invalid Secret must not end all logins.
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
