import { type KubeClient, mergePatch } from '../../../kubeclient/client.ts'
import { type KubeObject, parseObject } from '../../../kubeclient/object/object.ts'
import { retryOnConflict } from '../../../kubeclient/retry.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { toUser, type User, userPath } from '../../users/user.ts'
import { linkAnnotation, readLinks, type UserLink } from '../../users/user-link.ts'
import type { ProviderConfig } from '../config.ts'
import type { Identity } from '../external-identity.ts'
import { loginError } from './login-error.ts'

export type LinkWriterOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly users: { readonly findLinked: (link: UserLink) => readonly User[] }
  readonly logger: Logger
}

/** @throws Status user_already_linked if the user or the account has another link */
export type Linker = (config: ProviderConfig, identity: Identity, user: User) => Promise<User>

/** Links a user to an account, after both have been authenticated. */
export function createLinker({ client, groupDomain, users, logger }: LinkWriterOptions): Linker {
  /** @throws Status 409 if the user was changed in the meantime */
  async function write(user: KubeObject, { provider, uid }: UserLink): Promise<User> {
    const { name, uid: userUid, resourceVersion } = user.metadata
    const annotations = { [linkAnnotation(groupDomain, provider)]: uid }
    const metadata = { uid: userUid, resourceVersion, annotations }
    const response = await client.call(mergePatch(userPath(groupDomain, name), { metadata }))
    logger.info({ audit: 'user', user: name, provider }, 'user linked their identity provider account')
    return toUser(parseObject(response))
  }

  return ({ name: provider, displayName }, { uid }, { name, uid: userUid }) =>
    retryOnConflict(async () => {
      const link = { provider, uid }
      const holders = users.findLinked(link)
      if (holders.some(holder => holder.uid !== userUid))
        throw loginError(
          'user_already_linked',
          'a user was created for this account in the meantime; log in again',
        )
      const object = parseObject(await client.call({ path: userPath(groupDomain, name) }))
      const known = readLinks(object.metadata, groupDomain).find(each => each.provider === provider)
      const isForeign = object.metadata.uid !== userUid || (known !== undefined && known.uid !== uid)
      if (isForeign)
        throw loginError(
          'user_already_linked',
          `the user ${name} is linked to another account of ${displayName}; an administrator can change that`,
        )
      return known === undefined ? write(object, link) : toUser(object)
    }, 'the user is being updated concurrently')
}
