import { printable } from '../../../apierrors/printable.ts'
import { isStatus, type Status } from '../../../apierrors/status.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { parseObject } from '../../../kubeclient/object/object.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { iamVersion, toUser, type User, usersPath } from '../../users/user.ts'
import { linkAnnotation, readLinks, type UserLink } from '../../users/user-link.ts'
import { nameProblem } from '../../users/user-validation.ts'
import type { ProviderConfig } from '../config.ts'
import type { Identity } from '../external-identity.ts'
import { loginError } from './login-error.ts'
import { isNamedInRbac } from './rbac-subject-lookup.ts'
import { maxNameLength, toUserName } from './user-name.ts'

export type RegistrarOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly users: {
    readonly get: (name: string) => User | undefined
    readonly find: (login: string) => User | undefined
    readonly findLinked: (link: UserLink) => readonly User[]
  }
  readonly logger: Logger
}

export type Registrar = {
  /** @throws Status if no user can be created for the account, regardless of the name */
  readonly assertPossible: (identity: Identity) => void
  /**
   * Creates the user for an account.
   *
   * @param chosen the name that the user entered; defaults to the name at the provider
   * @throws Status, see login-error.ts
   */
  readonly register: (config: ProviderConfig, identity: Identity, chosen?: string) => Promise<User>
}

const email = /^[^@\s\p{C}]{1,64}@[^@\s\p{C}]{1,189}$/u
const administrator = 'an administrator can link a user to it'

/**
 * Creates users for accounts. An existing user with the same name or address is never used:
 * otherwise anyone who can choose a name at the provider could take over a user.
 */
export function createRegistrar({ client, groupDomain, users, logger }: RegistrarOptions): Registrar {
  function assertPossible(identity: Identity): void {
    if (!email.test(identity.email))
      throw loginError('email_missing', 'the identity provider returned no verified e-mail address')
    // An unverified address of a user does not block the same address from the provider.
    if (users.find(identity.email)?.isEmailVerified === true)
      throw loginError('email_taken', `the e-mail address belongs to another user; ${administrator}`)
  }

  async function chooseName(config: ProviderConfig, identity: Identity, chosen?: string): Promise<string> {
    const suggested = toUserName(identity.username, config.usernamePrefix)
    const name = chosen ?? suggested
    if (name === undefined)
      throw loginError(
        'user_name_unusable',
        `the name ${printable(identity.username) || '(empty)'} from the identity provider cannot be a user name: it needs a letter or digit, and at most ${maxNameLength - config.usernamePrefix.length} characters`,
      )
    const problem = nameProblem(name)
    if (problem !== undefined) throw loginError('user_name_unusable', `the user name ${problem}`)
    if (!name.startsWith(config.usernamePrefix))
      throw loginError('user_name_unusable', `the user name must begin with ${config.usernamePrefix}`)
    if (users.get(name) !== undefined) throw unavailable(name, 'taken', chosen)
    // The name at the provider is not checked: an administrator may have granted permissions to it in
    // advance. A name with characters that only look like its own is another one.
    const isOwn = name === suggested && isAscii(identity.username)
    if (!isOwn && (await isNamedInRbac(client, name))) throw unavailable(name, 'reserved', chosen)
    return name
  }

  return {
    assertPossible,
    async register(config, identity, chosen) {
      const { name: provider } = config
      if (users.findLinked({ provider, uid: identity.uid }).length > 0)
        throw loginError(
          'user_already_linked',
          'a user was created for this account in the meantime; log in again',
        )
      const name = await chooseName(config, identity, chosen)
      assertPossible(identity)
      const user = await create(client, groupDomain, { name, provider, identity })
      if (user === undefined) throw unavailable(name, 'taken', chosen)
      logger.info({ audit: 'user', user: name, provider }, 'created a user at the first login')
      return user
    },
  }
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text)
}

function unavailable(name: string, why: 'taken' | 'reserved', chosen: string | undefined): Status {
  const remedy = chosen === undefined ? administrator : 'choose another one'
  return loginError('user_name_taken', `the user name ${name} is ${why}; ${remedy}`)
}

type Registration = { readonly name: string; readonly provider: string; readonly identity: Identity }

/** Creates the User object. @returns undefined if the name belongs to another user */
async function create(
  client: KubeClient,
  groupDomain: string,
  { name, provider, identity: { uid, email, displayName } }: Registration,
): Promise<User | undefined> {
  const body = {
    apiVersion: `iam.${groupDomain}/${iamVersion}`,
    kind: 'User',
    metadata: { name, annotations: { [linkAnnotation(groupDomain, provider)]: uid } },
    spec: { email, ...(displayName === '' ? {} : { displayName: displayName.slice(0, 253).toWellFormed() }) },
  }
  try {
    return toUser(parseObject(await client.call({ method: 'POST', path: usersPath(groupDomain), body })))
  } catch (error) {
    if (!isStatus(error, 409)) throw error
    // The name was taken concurrently, by the same account on another replica or another one.
    const object = parseObject(await client.call({ path: `${usersPath(groupDomain)}/${name}` }))
    const isSame = readLinks(object.metadata, groupDomain).some(
      link => link.provider === provider && link.uid === uid,
    )
    return isSame ? toUser(object) : undefined
  }
}
