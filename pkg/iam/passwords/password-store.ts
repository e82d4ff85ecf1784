import { isStatus, Status } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { isRecord, type KubeObject } from '../../kubeclient/object/object.ts'
import { readSecret, secretsPath } from '../../kubeclient/object/secret.ts'
import { retryOnConflict } from '../../kubeclient/retry.ts'
import { byName, Informer } from '../../kubeclient/watch/informer.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { createSchemaCheck } from '../users/check-user-crd.ts'
import { isPasswordHash, toCredential, type User } from '../users/user.ts'
import { ownerUidOf, writeUserSecret } from '../users/user-secret.ts'

export type PasswordStoreOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  /** The namespace of Kapis, which contains the Secrets. */
  readonly namespace: string
  readonly logger: Logger
}

/** The owner of the password; the uid is '' for a user who does not exist yet. */
export type PasswordOwner = Pick<User, 'name' | 'uid' | 'credential'>

/** The fields of a User spec that refer to its hash. */
export type PasswordReference = { readonly credential: string; readonly credentialNamespace: string }

const prefix = 'kapis-user-'
/** Longer than the time between storing a hash and writing the User that refers to it. */
const settledMs = 120_000

type Hashes = ReadonlyMap<string, string>

/** A cached Secret. */
type StoredPassword = {
  readonly hashes: Hashes
  /** The uid of the user; '' without an owner. */
  readonly ownerUid: string
  readonly createdAtMs: number
  /** When the last hash was stored; 0 if unknown. */
  readonly storedAtMs: number
  readonly resourceVersion: string
}

/**
 * Stores password hashes: one Secret `kapis-user-<name>` of type `iam.<group domain>/password` per
 * user, so that read access to users does not expose hashes. `spec.credential` of the user is the
 * fingerprint of the current hash. A hash is stored first, and becomes valid when the user refers
 * to it. Other hashes are ignored.
 */
export class PasswordStore {
  readonly #options: PasswordStoreOptions
  readonly #type: string
  readonly #secrets: Informer<StoredPassword>
  readonly #storedAt: string
  readonly #requireSchema: () => Promise<void>

  constructor(options: PasswordStoreOptions) {
    this.#options = options
    this.#type = passwordSecretType(options.groupDomain)
    this.#storedAt = `iam.${options.groupDomain}/last-password-change-time`
    this.#requireSchema = createSchemaCheck(options)
    this.#secrets = new Informer({
      ...options,
      path: secretsPath(options.namespace),
      query: { fieldSelector: `type=${this.#type}` },
      what: 'the Secrets with password hashes',
      key: byName,
      parse: secret => toKept(secret, this.#storedAt),
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

  /** Creation time of the oldest Secret, in milliseconds; Infinity if there are no Secrets. */
  get sinceMs(): number {
    return Math.min(...[...this.#secrets.all()].map(({ createdAtMs }) => createdAtMs))
  }

  /** @throws Status 503 if the CRD is of an older release, which drops spec.credential */
  requireSchema(): Promise<void> {
    return this.#requireSchema()
  }

  /**
   * Returns the bcrypt hash of a user; undefined without a password. A hash in the User itself
   * takes precedence, since it is newer and was not moved yet.
   *
   * @throws Status 503
   */
  async hashOf(
    user: Pick<User, 'name' | 'inlineHash' | 'credential' | 'credentialNamespace'>,
  ): Promise<string | undefined> {
    const { name, inlineHash, credential, credentialNamespace } = user
    if (inlineHash !== undefined) return inlineHash
    if (credential === '') return undefined
    const known = this.#secrets.get(prefix + name)?.hashes.get(credential)
    if (known !== undefined) return known
    // Read from kube-apiserver: the watch of Secrets may be delayed, or another installation with
    // the same users has stored the hash.
    const { namespace, logger } = this.#options
    for (const searched of new Set([credentialNamespace || namespace, namespace])) {
      const secret = await this.#read(name, searched)
      const hash = secret && toHashes(secret).get(credential)
      if (hash !== undefined) return hash
    }
    logger.warn(
      { user: name, secret: prefix + name },
      'the Secret with the password hash of a user is missing: set a new password',
    )
    return undefined
  }

  /** Returns the fields of a User that refer to a hash. */
  referenceTo(hash: string): PasswordReference {
    return { credential: toCredential(hash), credentialNamespace: this.#options.namespace }
  }

  /**
   * Stores a hash for a user, who must refer to it afterwards. Older hashes stay until `tidy`,
   * since another replica may be about to refer to one of them.
   *
   * @returns the fields of a User that refer to the hash
   * @throws Status 503
   */
  async keep(owner: PasswordOwner, hash: string): Promise<PasswordReference> {
    await this.#requireSchema()
    const reference = this.referenceTo(hash)
    await this.#change(owner, known => new Map([...known, [reference.credential, hash]]))
    return reference
  }

  /**
   * Deletes all hashes except the current one. Makes the user the owner of the Secret, which a
   * restored backup does not preserve.
   *
   * @throws Status 503
   */
  async tidy(owner: PasswordOwner, nowMs = Date.now()): Promise<void> {
    const kept = this.#secrets.get(prefix + owner.name)
    const hash = kept?.hashes.get(owner.credential)
    if (kept === undefined || hash === undefined) return
    const isCrowded = kept.hashes.size > 1 && nowMs - kept.storedAtMs > settledMs
    if (isCrowded) await this.#change(owner, () => new Map([[owner.credential, hash]]), kept)
    else if (kept.ownerUid !== owner.uid) await this.#change(owner, known => known)
  }

  /** @param expected the cached Secret; nothing is done if the stored Secret differs */
  async #change(
    owner: PasswordOwner,
    next: (known: Hashes) => Hashes,
    expected?: StoredPassword,
  ): Promise<void> {
    await retryOnConflict(async () => {
      const secret = await this.#read(owner.name)
      if (expected !== undefined && secret?.metadata.resourceVersion !== expected.resourceVersion) return
      const hashes = next(secret === undefined ? new Map() : toHashes(secret))
      if (!(await this.#write(owner, hashes, secret)))
        throw new Status(409, 'Conflict', 'the Secret has changed')
    }, `the password of ${owner.name} is being changed concurrently`)
  }

  /** @returns false if another writer has changed the Secret */
  async #write(owner: PasswordOwner, hashes: Hashes, old: KubeObject | undefined): Promise<boolean> {
    const { client, groupDomain, namespace } = this.#options
    const target = { client, groupDomain, name: { namespace, name: prefix + owner.name } }
    const annotations = { [this.#storedAt]: new Date().toISOString() }
    const content = { type: this.#type, annotations, data: Object.fromEntries(hashes) }
    const stored = await writeUserSecret(target, owner, content, old)
    if (stored !== undefined) this.#secrets.put(stored)
    return stored !== undefined
  }

  async #read(user: string, namespace = this.#options.namespace): Promise<KubeObject | undefined> {
    try {
      const secret = await readSecret(this.#options.client, { namespace, name: prefix + user })
      return secret?.type === this.#type ? secret : undefined
    } catch (error) {
      // Kapis may lack permissions in other namespaces.
      const isForeign = namespace !== this.#options.namespace
      if (isStatus(error, 403) && isForeign) return undefined
      throw error
    }
  }
}

export function passwordSecretType(groupDomain: string): string {
  return `iam.${groupDomain}/password`
}

export function passwordSecretName(user: string): string {
  return prefix + user
}

function toKept(secret: KubeObject, storedAt: string): StoredPassword {
  const { annotations, creationTimestamp, resourceVersion } = secret.metadata
  return {
    hashes: toHashes(secret),
    ownerUid: ownerUidOf(secret),
    createdAtMs: Date.parse(creationTimestamp),
    storedAtMs: Date.parse(annotations?.[storedAt] ?? '') || 0,
    resourceVersion,
  }
}

/** Returns the hashes in a Secret by computed fingerprint, without hashes of excessive cost. */
export function toHashes({ data }: KubeObject): Hashes {
  const values = Object.values(isRecord(data) ? data : {})
  const hashes = values
    .map(value => (typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : ''))
    .filter(isPasswordHash)
  return new Map(hashes.map(hash => [toCredential(hash), hash]))
}
