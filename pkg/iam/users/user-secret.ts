import { orUndefined } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import {
  type SecretContent,
  type SecretName,
  secretPath,
  writeSecret,
} from '../../kubeclient/object/secret.ts'
import { iamVersion, type User } from './user.ts'

/** The owner of a Secret; the uid is '' for a user who does not exist yet. */
export type SecretOwner = Pick<User, 'name' | 'uid'>

type Target = { readonly client: KubeClient; readonly groupDomain: string; readonly name: SecretName }

/** Returns the uid of a Secret's owner; '' without one, as after a restore from backup. */
export function ownerUidOf({ metadata }: Pick<KubeObject, 'metadata'>): string {
  return metadata.ownerReferences?.[0]?.uid ?? ''
}

/**
 * Creates or replaces a Secret of a user, which is garbage-collected with the user.
 *
 * @param old the replaced version; undefined for a new Secret
 * @returns the stored Secret; undefined if another writer has changed it
 */
export async function writeUserSecret(
  { client, groupDomain, name }: Target,
  owner: SecretOwner,
  content: Omit<SecretContent, 'ownerReferences'>,
  old: KubeObject | undefined,
): Promise<KubeObject | undefined> {
  const ownerUid = old === undefined ? '' : ownerUidOf(old)
  // The Secret of a deleted user of this name will be garbage-collected despite a new owner.
  const isForeign = old !== undefined && ownerUid !== '' && ownerUid !== owner.uid
  if (isForeign && !(await deleteAsRead(client, secretPath(name), old))) return undefined
  const { name: user, uid } = owner
  const reference = { apiVersion: `iam.${groupDomain}/${iamVersion}`, kind: 'User', name: user, uid }
  const ownerReferences = uid === '' ? {} : { ownerReferences: [reference] }
  return writeSecret(client, name, { ...content, ...ownerReferences }, isForeign ? undefined : old?.metadata)
}

/** @returns false if the Secret was changed or deleted since it was read */
export async function deleteAsRead(
  client: KubeClient,
  path: string,
  { metadata }: KubeObject,
): Promise<boolean> {
  const preconditions = { uid: metadata.uid, resourceVersion: metadata.resourceVersion }
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions }
  const deleted = client.call({ method: 'DELETE', path, body }).then(() => true)
  return (await orUndefined(deleted, 404, 409)) === true
}
