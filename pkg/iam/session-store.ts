import type { KubeClient } from '../kube/client.ts'
import { parseObject } from '../kube/object.ts'
import { Reflector } from '../kube/reflector.ts'
import { Status } from '../status/status.ts'
import type { Logger } from '../telemetry/logger.ts'
import { type Session, sessionsPath, toLoginSession, toSession } from './session.ts'

export type SessionStoreOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly logger: Logger
  /** How long after a session's end a token of it can still be good: the life of an access token. */
  readonly accessTokenSeconds: number
}

/**
 * Logins, kept in the orchestrator. What is asked for each request (has it ended?) is answered from the watch; what
 * decides about a refresh token is read and written there, so that two replicas can never both accept it.
 */
export class SessionStore {
  readonly #options: SessionStoreOptions
  readonly #ended = new Set<string>()
  readonly #expiresAtMs = new Map<string, number>()
  readonly #reflector: Reflector
  #isReady = false

  constructor(options: SessionStoreOptions) {
    this.#options = options
    this.#reflector = new Reflector({
      client: options.client,
      path: sessionsPath(options.groupDomain),
      sink: {
        replace: items => {
          this.#ended.clear()
          this.#expiresAtMs.clear()
          for (const item of items) this.#put(toSession(item))
          this.#isReady = true
        },
        apply: events => {
          for (const { type, object } of events) {
            if (type === 'BOOKMARK') continue
            this.#observe(type, toSession(object))
          }
        },
        failed: err => options.logger.warn({ err }, 'cannot watch login sessions'),
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

  /**
   * Whether a login is known to have ended. One that is not known at all has not: another replica may have made it a
   * moment ago.
   */
  isRevoked(sid: string): boolean {
    return this.#ended.has(sid)
  }

  async create(session: Omit<Session, 'resourceVersion'>): Promise<void> {
    const { client, groupDomain } = this.#options
    const body = toLoginSession({ ...session, resourceVersion: '' }, groupDomain)
    await client.call({ method: 'POST', path: sessionsPath(groupDomain), body })
  }

  /** The session as it is now, read from the orchestrator; undefined when there is none. */
  async read(sid: string): Promise<Session | undefined> {
    const { client, groupDomain } = this.#options
    try {
      const path = `${sessionsPath(groupDomain)}/${encodeURIComponent(sid)}`
      return toSession(parseObject(await client.call({ path })))
    } catch (error) {
      if (error instanceof Status && error.code === 404) return undefined
      throw error
    }
  }

  /** @returns false when it has changed since it was read */
  async update(session: Session): Promise<boolean> {
    const { client, groupDomain } = this.#options
    const path = `${sessionsPath(groupDomain)}/${encodeURIComponent(session.sid)}`
    try {
      await client.call({ method: 'PUT', path, body: toLoginSession(session, groupDomain) })
      return true
    } catch (error) {
      if (error instanceof Status && (error.code === 409 || error.code === 404)) return false
      throw error
    }
  }

  /** Removes sessions of which no token can be good any more. Safe to run on every replica. */
  async collect(nowMs = Date.now()): Promise<void> {
    const { client, groupDomain } = this.#options
    for (const [sid, expiresAtMs] of this.#expiresAtMs) {
      if (!this.#isOver(expiresAtMs, nowMs)) continue
      this.#forget(sid)
      const path = `${sessionsPath(groupDomain)}/${encodeURIComponent(sid)}`
      await client.call({ method: 'DELETE', path }).catch(() => undefined)
    }
  }

  #observe(type: 'ADDED' | 'MODIFIED' | 'DELETED', session: Session): void {
    if (type !== 'DELETED') this.#put(session)
    else if (this.#isOver(session.expiresAtMs, Date.now())) this.#forget(session.sid)
    // Deleted before its time: somebody ended the login.
    else this.#put({ ...session, ended: 'deleted' })
  }

  #isOver(expiresAtMs: number, nowMs: number): boolean {
    return expiresAtMs + this.#options.accessTokenSeconds * 1000 < nowMs
  }

  #forget(sid: string): void {
    this.#expiresAtMs.delete(sid)
    this.#ended.delete(sid)
  }

  #put(session: Session): void {
    if (session.ended !== '') this.#ended.add(session.sid)
    this.#expiresAtMs.set(session.sid, session.expiresAtMs)
  }
}
