import type { KubeClient } from '../kube/client.ts'
import { Reflector } from '../kube/reflector.ts'
import type { Logger } from '../telemetry/logger.ts'
import { toUser, type User, usersPath } from './user.ts'

/** All users, as their watch has them: a change of one reaches every replica within a moment. */
export class UserStore {
  readonly #users = new Map<string, User>()
  readonly #byEmail = new Map<string, string>()
  readonly #reflector: Reflector
  #isReady = false

  constructor(options: { client: KubeClient; groupDomain: string; logger: Logger }) {
    this.#reflector = new Reflector({
      client: options.client,
      path: usersPath(options.groupDomain),
      sink: {
        replace: items => {
          this.#users.clear()
          this.#byEmail.clear()
          for (const item of items) this.#put(toUser(item))
          this.#isReady = true
        },
        apply: events => {
          for (const { type, object } of events) {
            if (type === 'DELETED') this.#remove(object.metadata.name)
            else if (type !== 'BOOKMARK') this.#put(toUser(object))
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

  get(name: string): User | undefined {
    return this.#users.get(name)
  }

  /** By user name, or by e-mail address when the login looks like one (RFC 5322 addr-spec). */
  find(login: string): User | undefined {
    const name = login.includes('@') ? (this.#byEmail.get(login.toLowerCase()) ?? login) : login
    return this.#users.get(name)
  }

  #put(user: User): void {
    this.#remove(user.name)
    this.#users.set(user.name, user)
    const email = user.email.toLowerCase()
    // Of two users with one address the first keeps it: a newcomer must not take over a login.
    if (email !== '' && !this.#byEmail.has(email)) this.#byEmail.set(email, user.name)
  }

  #remove(name: string): void {
    const old = this.#users.get(name)
    if (old === undefined) return
    this.#users.delete(name)
    if (this.#byEmail.get(old.email.toLowerCase()) === name) this.#byEmail.delete(old.email.toLowerCase())
  }
}
