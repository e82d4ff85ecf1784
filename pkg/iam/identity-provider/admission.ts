import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from '../../kube/client.ts'
import { parseObject } from '../../kube/object.ts'
import { Status } from '../../status/status.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { iamVersion, toUser, type User, usersPath } from '../user.ts'
import { linkAnnotation, readLinks, type UserLink } from '../user-link.ts'
import type { ProviderConfig } from './config.ts'
import type { Identity } from './identity.ts'
import { type GroupWriter, toGroups } from './provider-groups.ts'
import { refuse } from './refusal.ts'
import { toUserName } from './user-name.ts'

export type AdmissionOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly users: {
    readonly get: (name: string) => User | undefined
    readonly find: (login: string) => User | undefined
    readonly findLinked: (link: UserLink) => readonly User[]
  }
  readonly putGroups: GroupWriter
  readonly logger: Logger
}

/** The user of a person whom a provider vouches for. @throws Status as refusal.ts has them */
export type Admission = (config: ProviderConfig, identity: Identity) => Promise<User>

const seenWithinMs = 1_000
const email = /^[^@\s]{1,64}@[^@\s]{1,189}$/

/**
 * Finds the user who is linked to a person, or makes one. The link alone counts. A user of the same name or address who
 * is not linked is somebody else: whoever can choose what he is called at a provider would otherwise choose whose user
 * he becomes.
 */
export function createAdmission(options: AdmissionOptions): Admission {
  const { client, groupDomain, users, putGroups, logger } = options

  async function register(config: ProviderConfig, identity: Identity): Promise<User> {
    const { name: provider, displayName } = config
    const administrator = 'an administrator can link a user to it'
    if (config.mappingMethod !== 'auto')
      throw refuse('user_not_linked', `no user is linked to this account of ${displayName}; ${administrator}`)
    if (!config.disableLoginConfirmation)
      throw refuse('registration_not_confirmed', `the first login by ${displayName} has to be confirmed`)
    const name = toUserName(identity.username, config.usernamePrefix)
    if (name === undefined)
      throw refuse('user_name_unusable', 'no user name can be made of the name at the identity provider')
    const taken = refuse('user_name_taken', `the user name ${name} is taken; ${administrator}`)
    if (users.get(name) !== undefined) throw taken
    if (!email.test(identity.email))
      throw refuse('email_missing', 'the identity provider gives no verified e-mail address')
    if (users.find(identity.email) !== undefined)
      throw refuse('email_taken', `the e-mail address is another user’s; ${administrator}`)
    const user = await create(client, groupDomain, { name, provider, identity })
    if (user === undefined) throw taken
    logger.info({ audit: 'user', user: name, provider }, 'user made at the first login')
    return user
  }

  /** Whoever is handed a token uses it at once: it should not be before the user is known. */
  async function seen(user: User): Promise<User> {
    const deadline = Date.now() + seenWithinMs
    const isKnown = () => {
      const known = users.get(user.name)
      return known?.uid === user.uid && user.groups.every(group => known.groups.includes(group))
    }
    while (!isKnown() && Date.now() < deadline) await sleep(10)
    return user
  }

  return async (config, identity) => {
    const { name: provider, groupsPrefix } = config
    const groups = toGroups(identity.groups ?? [], groupsPrefix)
    const [linked, ...others] = users.findLinked({ provider, uid: identity.uid })
    if (others.length > 0)
      throw refuse(
        'user_linked_twice',
        'several users are linked to this account; an administrator can mend it',
      )
    // One who may not log in is refused with what he has, and gets nothing new.
    if (linked?.state === 'Disabled') return linked
    const user = linked ?? (await register(config, identity))
    return seen(await putGroups(user, provider, groups))
  }
}

type Registration = { readonly name: string; readonly provider: string; readonly identity: Identity }

/** @returns undefined when the name is somebody else's */
async function create(
  client: KubeClient,
  groupDomain: string,
  { name, provider, identity: { uid, email, displayName } }: Registration,
): Promise<User | undefined> {
  const body = {
    apiVersion: `iam.${groupDomain}/${iamVersion}`,
    kind: 'User',
    metadata: { name, annotations: { [linkAnnotation(groupDomain, provider)]: uid } },
    spec: { email, ...(displayName === '' ? {} : { displayName: displayName.slice(0, 253) }) },
  }
  try {
    return toUser(parseObject(await client.call({ method: 'POST', path: usersPath(groupDomain), body })))
  } catch (error) {
    if (!(error instanceof Status && error.code === 409)) throw error
    // The same person, a moment earlier or on another replica, or somebody else.
    const object = parseObject(await client.call({ path: `${usersPath(groupDomain)}/${name}` }))
    const isSame = readLinks(object.metadata, groupDomain).some(
      link => link.provider === provider && link.uid === uid,
    )
    return isSame ? toUser(object) : undefined
  }
}
