import { setTimeout as sleep } from 'node:timers/promises'
import type { Status } from '../../../apierrors/status.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { User } from '../../users/user.ts'
import type { UserLink } from '../../users/user-link.ts'
import type { ProviderConfig } from '../config.ts'
import type { Identity } from '../external-identity.ts'
import type { Linker } from './link-writer.ts'
import { loginError } from './login-error.ts'
import { type GroupWriter, readGroups } from './provider-groups.ts'
import type { Registrar } from './registration.ts'

export type AccountLinkingOptions = {
  readonly users: {
    readonly get: (name: string) => User | undefined
    readonly findLinked: (link: UserLink) => readonly User[]
  }
  readonly registrar: Registrar
  readonly link: Linker
  readonly putGroups: GroupWriter
  readonly logger: Logger
}

/** An authenticated account without a user. A page may create a user, or link an existing one. */
export type PendingRegistration = {
  readonly config: ProviderConfig
  readonly identity: Identity
  readonly wants: 'confirmation' | 'link'
}

export type LinkedAccount =
  | { readonly user: User; readonly registration?: undefined }
  | { readonly user?: undefined; readonly registration: PendingRegistration }

/** Finds or creates the user for an account. All methods throw a Status, see login-error.ts. */
export type AccountLinking = {
  /**
   * Returns the user who is linked to the account. Otherwise creates a user, or returns a pending
   * registration. Equal names or addresses do not link a user.
   */
  readonly findOrCreate: (config: ProviderConfig, identity: Identity) => Promise<LinkedAccount>
  /** Returns the user who is linked to an account; undefined for none or several. */
  readonly findLinked: (config: ProviderConfig, uid: string) => User | undefined
  /** Creates the user that a new account has confirmed, with the chosen name. */
  readonly register: (registration: PendingRegistration, name: string) => Promise<User>
  /** Links a new account to an existing user, after a check of the password. */
  readonly link: (registration: PendingRegistration, user: User) => Promise<User>
}

const seenWithinMs = 1_000
// A token may contain thousands of groups.
const maxLogged = 20

export function createAccountLinking(options: AccountLinkingOptions): AccountLinking {
  const { users, registrar, link, putGroups, logger } = options

  async function find(config: ProviderConfig, identity: Identity): Promise<User | PendingRegistration> {
    const [linked, ...others] = users.findLinked({ provider: config.name, uid: identity.uid })
    if (others.length > 0)
      throw loginError(
        'user_linked_twice',
        'several users are linked to this account; an administrator can correct it',
      )
    if (linked !== undefined) return linked
    if (config.mappingMethod === 'manual') return { config, identity, wants: 'link' }
    if (config.mappingMethod === 'lookup') throw notLinked(config, 'an administrator can link a user to it')
    if (config.disableLoginConfirmation) return registrar.register(config, identity)
    registrar.assertPossible(identity)
    return { config, identity, wants: 'confirmation' }
  }

  /** Waits until the watch delivers the user: its tokens may be used immediately. */
  async function updateLastSeen(user: User): Promise<User> {
    const deadline = performance.now() + seenWithinMs
    const isKnown = () => {
      const known = users.get(user.name)
      return known?.uid === user.uid && user.groups.every(group => known.groups.includes(group))
    }
    while (!isKnown() && performance.now() < deadline) await sleep(10)
    return user
  }

  async function withGroups(user: User, { name, groupsPrefix }: ProviderConfig, { groups }: Identity) {
    if (groups === 'unknown') {
      logger.warn(
        { user: user.name, provider: name },
        'the identity provider sent no groups for a user (the claim of groupsKey is missing); the previous groups stay until groupsMaxAge',
      )
      return updateLastSeen(user)
    }
    const read = readGroups(groups ?? [], groupsPrefix)
    if (read.ignored.length > 0)
      logger.warn(
        {
          user: user.name,
          provider: name,
          groups: read.ignored.slice(0, maxLogged),
          count: read.ignored.length,
        },
        'groups from the identity provider are ignored: they are reserved, or not valid group names',
      )
    return updateLastSeen(await putGroups(user, name, read.groups))
  }

  return {
    async findOrCreate(config, identity) {
      // Invalid groups are rejected before anything is created.
      if (identity.groups !== 'unknown') readGroups(identity.groups ?? [], config.groupsPrefix)
      const found = await find(config, identity)
      if ('wants' in found) return { registration: found }
      // A disabled user is returned unchanged, so that the caller rejects the login.
      if (found.state === 'Disabled') return { user: found }
      return { user: await withGroups(found, config, identity) }
    },
    findLinked({ name: provider }, uid) {
      const [user, ...others] = users.findLinked({ provider, uid })
      return others.length === 0 ? user : undefined
    },
    async register({ config, identity }, name) {
      return withGroups(await registrar.register(config, identity, name), config, identity)
    },
    async link({ config, identity }, user) {
      return withGroups(await link(config, identity, user), config, identity)
    },
  }
}

/** Returns the error for an account without a user, for logins that cannot show a page. */
export function registrationError({ config, wants }: PendingRegistration): Status {
  if (wants === 'link') return notLinked(config, 'log in with a browser to link one')
  return loginError(
    'registration_not_confirmed',
    `the first login with ${config.displayName} must be confirmed; log in with a browser`,
  )
}

function notLinked({ displayName }: ProviderConfig, remedy: string): Status {
  return loginError('user_not_linked', `no user is linked to this account of ${displayName}; ${remedy}`)
}
