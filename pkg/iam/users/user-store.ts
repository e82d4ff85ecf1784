import type { KubeClient } from '../../kubeclient/client.ts'
import { byAge } from '../../kubeclient/object/object.ts'
import { Informer } from '../../kubeclient/watch/informer.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { ignoredGroups, toUser, type User, usersPath } from './user.ts'
import { readLinks, type UserLink } from './user-link.ts'

export type UserStoreOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly logger: Logger
  /** Called for each change after the first list; undefined means deleted or not yet created. */
  readonly onChange?: (name: string, before: User | undefined, after: User | undefined) => void
}

type Entry = { readonly user: User; readonly links: readonly UserLink[] }

/** All users from a watch: changes reach all replicas within a moment. */
export class UserStore {
  readonly #users: Informer<Entry, 'email' | 'link'>
  /** The last warning that was logged for each user. */
  readonly #ignored = new Map<string, string>()
  readonly #logger: Logger

  constructor(options: UserStoreOptions) {
    this.#logger = options.logger
    this.#users = new Informer({
      ...options,
      path: usersPath(options.groupDomain),
      what: 'users',
      parse: object => {
        // A user that is being deleted counts as deleted, even while a finalizer delays it.
        if (object.metadata.deletionTimestamp !== undefined) return undefined
        this.#logIgnored(object.metadata.name, ignoredGroups(object))
        return { user: toUser(object), links: readLinks(object.metadata, options.groupDomain) }
      },
      indexers: {
        email: ({ user }) => (user.email === '' ? [] : [user.email.toLowerCase()]),
        link: ({ links }) => links.map(linkKey),
      },
      onChange(changes, isInInitialList) {
        if (isInInitialList) return
        for (const { key, before, after } of changes) options.onChange?.(key, before?.user, after?.user)
      },
    })
  }

  start(): Promise<void> {
    return this.#users.start()
  }

  stop(): void {
    this.#users.stop()
  }

  get isReady(): boolean {
    return this.#users.isReady
  }

  get size(): number {
    return this.#users.size
  }

  *all(): Iterable<User> {
    for (const { user } of this.#users.all()) yield user
  }

  get(name: string): User | undefined {
    return this.#users.get(name)?.user
  }

  /**
   * Finds a user by name or e-mail address (RFC 5322 addr-spec). If several users have the address,
   * a verified address takes precedence, then the oldest user: a new user or an unverified address
   * cannot take over a login.
   */
  find(login: string): User | undefined {
    if (!login.includes('@')) return this.get(login)
    const holders = this.#users.byIndex('email', login.toLowerCase()).map(({ user }) => user)
    return holders.sort(byClaim)[0]
  }

  /** Returns the users who are linked to an account; more than one is a mistake. */
  findLinked(link: UserLink): readonly User[] {
    return this.#users.byIndex('link', linkKey(link)).map(({ user }) => user)
  }

  linksOf(name: string): readonly UserLink[] {
    return this.#users.get(name)?.links ?? []
  }

  /** Logs ignored groups of a user once, and again when they change. */
  #logIgnored(name: string, groups: readonly string[]): void {
    const now = JSON.stringify(groups)
    if ((this.#ignored.get(name) ?? '[]') === now) return
    if (groups.length === 0) this.#ignored.delete(name)
    else {
      this.#ignored.set(name, now)
      this.#logger.warn(
        { user: name, groups },
        'groups of the user are ignored: they are not valid group names',
      )
    }
  }
}

/** A total order, so that all replicas find the same user. */
function byClaim(a: User, b: User): number {
  return a.isEmailVerified === b.isEmailVerified ? byAge(a, b) : a.isEmailVerified ? -1 : 1
}

/** Returns a unique key of a link: names of providers contain no spaces. */
function linkKey({ provider, uid }: UserLink): string {
  return `${provider} ${uid}`
}
