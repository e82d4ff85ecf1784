import { orUndefined, Status, unavailable } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { type KubeObject, parseObject } from '../../kubeclient/object/object.ts'
import { readSecret, secretData, secretPath } from '../../kubeclient/object/secret.ts'
import { retryOnConflict } from '../../kubeclient/retry.ts'
import type { User } from '../users/user.ts'
import { deleteAsRead, ownerUidOf, writeUserSecret } from '../users/user-secret.ts'
import { type Factors, hasFactors, noFactors, parseFactors } from './factors.ts'

export type FactorStoreOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  /** The namespace of Kapis, which contains the Secrets. */
  readonly namespace: string
}

export type FactorOwner = Pick<User, 'name' | 'uid'>

export type FactorStore = {
  /** Reads the current factors from kube-apiserver. @throws Status 503 */
  readonly read: (user: FactorOwner) => Promise<Factors>
  /**
   * Changes the factors. If another writer changes them concurrently, `next` is called again with
   * the new state. The Secret is deleted with the last factor.
   *
   * @param next returns undefined to change nothing
   * @returns whether the factors were changed
   * @throws Status 503
   */
  readonly change: (user: FactorOwner, next: (known: Factors) => Factors | undefined) => Promise<boolean>
}

const prefix = 'kapis-factors-'
const key = 'factors.json'

/**
 * Stores second factors: a Secret `kapis-factors-<name>` of type `iam.<group domain>/factors`,
 * owned by the user. Only kapis-oauth reads its content.
 */
export function createFactorStore({ client, groupDomain, namespace }: FactorStoreOptions): FactorStore {
  const nameOf = ({ name }: FactorOwner) => ({ namespace, name: prefix + name })

  async function find(user: FactorOwner): Promise<KubeObject | undefined> {
    return readSecret(client, nameOf(user))
  }

  function toFactors(user: FactorOwner, secret: KubeObject | undefined): Factors {
    if (secret === undefined || !isOf(user, secret)) return noFactors
    try {
      return parseFactors(String(secretData(secret, key)))
    } catch (error) {
      throw unavailable(`the Secret ${namespace}/${prefix}${user.name} cannot be read`, error)
    }
  }

  /** @throws Status 409 if another writer has changed the Secret */
  async function write(user: FactorOwner, factors: Factors, old: KubeObject | undefined): Promise<void> {
    const name = nameOf(user)
    const isWritten = hasFactors(factors)
      ? (await writeUserSecret({ client, groupDomain, name }, user, toContent(factors), old)) !== undefined
      : old === undefined || (await deleteAsRead(client, secretPath(name), old))
    if (!isWritten) throw new Status(409, 'Conflict', 'the Secret has changed')
  }

  const toContent = (factors: Factors) => ({
    type: `iam.${groupDomain}/factors`,
    data: { [key]: JSON.stringify(factors) },
  })

  return {
    read: async user => toFactors(user, await find(user)),
    change: (user, next) =>
      retryOnConflict(async () => {
        const secret = await find(user)
        const factors = next(toFactors(user, secret))
        if (factors === undefined) return false
        await write(user, factors, secret)
        return true
      }, `the second factors of ${user.name} are being changed concurrently`),
  }
}

/**
 * For kapis-apiserver: reports whether a user has second factors, and removes them for an
 * administrator. It never reads the content of the Secrets.
 */
export function createFactorRegistry({ client, namespace }: Omit<FactorStoreOptions, 'groupDomain'>) {
  const pathOf = ({ name }: FactorOwner) => secretPath({ namespace, name: prefix + name })
  // Metadata only:
  // https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'

  async function find(user: FactorOwner): Promise<KubeObject | undefined> {
    return orUndefined(client.call({ path: pathOf(user), accept }).then(parseObject), 404)
  }

  return {
    /** Reports whether a user has second factors. @throws Status 503 */
    async has(user: FactorOwner): Promise<boolean> {
      const found = await find(user)
      return found !== undefined && isOf(user, found)
    },
    /** Removes the second factors of a user. @throws Status 503 */
    async remove(user: FactorOwner): Promise<void> {
      await orUndefined(client.call({ method: 'DELETE', path: pathOf(user) }), 404)
    },
  }
}

/**
 * Reports whether a Secret belongs to this user. A deleted user of the same name may have left a
 * Secret, which will be garbage-collected.
 */
function isOf({ uid }: FactorOwner, secret: KubeObject): boolean {
  return ['', uid].includes(ownerUidOf(secret))
}
