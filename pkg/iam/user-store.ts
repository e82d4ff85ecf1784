import type { KubeClient } from '../kube/client.ts'
import type { KubeObject } from '../kube/object.ts'
import { Reflector } from '../kube/reflector.ts'
import type { Logger } from '../telemetry/logger.ts'
import { ignoredGroups, toUser, type User, usersPath } from './user.ts'
import { readLinks, type UserLink } from './user-link.ts'

export type UserStoreOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly logger: Logger
  /** Told of each change that the watch brings; undefined stands for "is not there". */
  readonly onChange?: (name: string, before: User | undefined, after: User | undefined) => void
}

/** All users, as their watch has them: a change of one reaches every replica within a moment. */
export class UserStore {
  readonly #users = new Map<string, User>()
  readonly #byEmail = new Map<string, readonly User[]>()
  readonly #links = new Map<string, readonly UserLink[]>()
  readonly #byLink = new Map<string, ReadonlySet<string>>()
  /** What was last logged of a user. */
  readonly #ignored = new Map<string, string>()
  readonly #logger: Logger
  readonly #groupDomain: string
  readonly #reflector: Reflector
  #isReady = false

  constructor(options: UserStoreOptions) {
    this.#groupDomain = options.groupDomain
    this.#logger = options.logger
    this.#reflector = new Reflector({
      client: options.client,
      path: usersPath(options.groupDomain),
      sink: {
        replace: items => {
          const before = new Map(this.#users)
          this.#users.clear()
          this.#byEmail.clear()
          this.#links.clear()
          this.#byLink.clear()
          for (const item of items) if (item.metadata.deletionTimestamp === undefined) this.#put(item)
          this.#isReady = true
          // What happened while the watch was broken.
          for (const [name, user] of before) options.onChange?.(name, user, this.#users.get(name))
        },
        apply: events => {
          for (const { type, object } of events) {
            if (type === 'BOOKMARK') continue
            // One that waits for a finalizer is as good as gone.
            const isGone = type === 'DELETED' || object.metadata.deletionTimestamp !== undefined
            const { name } = object.metadata
            const before = this.#users.get(name)
            if (isGone) this.#remove(name)
            else this.#put(object)
            options.onChange?.(name, before, this.#users.get(name))
          }
        },
        failed: err => options.logger.warn({ err }, 'cannot watch users'),
      },
    })
  }

  start(): Promise<void> {
    return this.#reflector.start()
  }

  stop(): void {
    this.#reflector.stop()
  }

  get isReady(): boolean {
    return this.#isReady
  }

  get size(): number {
    return this.#users.size
  }

  all(): Iterable<User> {
    return this.#users.values()
  }

  get(name: string): User | undefined {
    return this.#users.get(name)
  }

  /**
   * By user name, or by e-mail address when the login looks like one (RFC 5322 addr-spec). Of several users with one
   * address the oldest has it: a newcomer must not take over a login.
   */
  find(login: string): User | undefined {
    if (!login.includes('@')) return this.#users.get(login)
    return this.#byEmail.get(login.toLowerCase())?.[0]
  }

  /** The users who are linked to a person at an identity provider; more than one only by mistake. */
  findLinked({ provider, uid }: UserLink): readonly User[] {
    return [...(this.#byLink.get(linkKey({ provider, uid })) ?? [])].flatMap(
      name => this.#users.get(name) ?? [],
    )
  }

  linksOf(name: string): readonly UserLink[] {
    return this.#links.get(name) ?? []
  }

  #put(object: KubeObject): void {
    const user = toUser(object)
    this.#remove(user.name)
    this.#logIgnored(user.name, ignoredGroups(object))
    this.#users.set(user.name, user)
    const links = readLinks(object.metadata, this.#groupDomain)
    if (links.length > 0) this.#links.set(user.name, links)
    for (const key of links.map(linkKey))
      this.#byLink.set(key, new Set([...(this.#byLink.get(key) ?? []), user.name]))
    const email = user.email.toLowerCase()
    if (email === '') return
    const holders = [...(this.#byEmail.get(email) ?? []), user]
    this.#byEmail.set(email, holders.sort(byAge))
  }

  /** Once, and again when they have changed: a user is written at each login. */
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

  #remove(name: string): void {
    const old = this.#users.get(name)
    if (old === undefined) return
    this.#users.delete(name)
    for (const key of this.linksOf(name).map(linkKey)) {
      const names = new Set(this.#byLink.get(key))
      names.delete(name)
      if (names.size === 0) this.#byLink.delete(key)
      else this.#byLink.set(key, names)
    }
    this.#links.delete(name)
    const email = old.email.toLowerCase()
    const others = this.#byEmail.get(email)?.filter(user => user.name !== name) ?? []
    if (others.length === 0) this.#byEmail.delete(email)
    else this.#byEmail.set(email, others)
  }
}

/** Total, so that all replicas agree. */
function byAge(a: User, b: User): number {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.name < b.name) ? -1 : 1
}

/** A provider's name has no space in it. */
function linkKey({ provider, uid }: UserLink): string {
  return `${provider} ${uid}`
}
