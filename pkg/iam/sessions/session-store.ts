import { isStatus, orUndefined } from '../../apierrors/status.ts'
import type { AuthenticationMethods } from '../../jwt/authentication-methods.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { parseList, parseObject } from '../../kubeclient/object/object.ts'
import { Reflector } from '../../kubeclient/watch/reflector.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { User } from '../users/user.ts'
import {
  isObsoleteSession,
  type NewSession,
  type Session,
  sessionsPath,
  toLoginSession,
  toSession,
} from './session.ts'

export type SessionStoreOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly logger: Logger
  /** Lifetime of an access token, which can be valid this long after the end of its session. */
  readonly accessTokenSeconds: number
  /** The allowed clock skew of token issuers. */
  readonly clockSkewSeconds: number
  /** Returns credential and uid of a user: a change of either ends the logins. */
  readonly users?: { readonly get: (name: string) => User | undefined }
  /**
   * Called for a login that ends before it expires, only on the replica that has stored the end.
   * For a deleted login it is called on every replica, since no object is left that one of them
   * could claim.
   */
  readonly onEnd?: (session: Session) => void
}

// Longer than the delay of a watch: after this time every earlier login has been received.
const watchLagMs = 5_000
// Keys are kept this much longer than needed.
const keyMarginSeconds = 300

/**
 * Stores login sessions in kube-apiserver. Requests are checked against the watch. Refresh tokens
 * are read and written at kube-apiserver, so that two replicas cannot both accept one.
 */
export class SessionStore {
  readonly #options: SessionStoreOptions
  readonly #sessions = new Map<string, Session>()
  readonly #reflector: Reflector
  #askedAtMs = 0
  /** When the current list was requested; 0 before the first list. */
  #listedAtMs = 0

  constructor(options: SessionStoreOptions) {
    this.#options = options
    this.#reflector = new Reflector({
      client: options.client,
      path: sessionsPath(options.groupDomain),
      handler: {
        listing: () => {
          this.#askedAtMs = Date.now()
        },
        replace: items => this.#replace(items.map(toSession)),
        apply: events => {
          for (const { type, object } of events) {
            if (type === 'BOOKMARK') this.#prune()
            else if (type === 'DELETED') this.#deleted(toSession(object))
            else this.#sessions.set(object.metadata.name, toSession(object))
          }
        },
        failed: err => options.logger.warn({ err }, 'failed to watch login sessions'),
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
    return this.#listedAtMs > 0
  }

  /**
   * Reports whether a login is known to have ended. An unknown login counts as active while another
   * replica may have just created it.
   *
   * @param issuedAtSeconds the iat claim of the token
   */
  isRevoked(sid: string, issuedAtSeconds = Number.POSITIVE_INFINITY, nowMs = Date.now()): boolean {
    const session = this.#sessions.get(sid)
    if (session === undefined) return this.#isGone(issuedAtSeconds, nowMs)
    if (session.ended !== '') return true
    const user = this.#options.users?.get(session.user)
    if (user !== undefined && isObsoleteSession(session, user)) return true
    // A parent has no parent itself, so this recursion ends.
    return session.parent !== '' && this.isRevoked(session.parent, session.createdAtMs / 1000, nowMs)
  }

  /** Returns the login of a client; undefined for a token without a login of a user. */
  findLogin(sid: string): { readonly amr: AuthenticationMethods } | undefined {
    const session = this.#sessions.get(sid)
    return session?.type === '' ? session : undefined
  }

  /** Reports whether a session has a token signed between two times, with clock skew. */
  hasTokenOf(fromSeconds: number, untilSeconds: number, nowMs = Date.now()): boolean {
    return [...this.#sessions.values()].some(({ ended, expiresAtMs, rotatedAtMs }) => {
      const signed = rotatedAtMs / 1000
      const isWithin = signed > fromSeconds - keyMarginSeconds && signed < untilSeconds + keyMarginSeconds
      return ended === '' && isWithin && !this.#isOver(expiresAtMs, nowMs)
    })
  }

  /** Reports whether an active login got ID tokens between two times, with clock skew. */
  hasIdTokenOf(fromSeconds: number, untilSeconds: number, nowMs = Date.now()): boolean {
    return [...this.#sessions.values()].some(
      ({ ended, scope, createdAtMs, rotatedAtMs, expiresAtMs }) =>
        ended === '' &&
        scope.split(' ').includes('openid') &&
        createdAtMs / 1000 < untilSeconds + keyMarginSeconds &&
        rotatedAtMs / 1000 > fromSeconds - keyMarginSeconds &&
        !this.#isOver(expiresAtMs, nowMs),
    )
  }

  /** Returns every cached login, including ended logins. */
  all(): Iterable<Session> {
    return this.#sessions.values()
  }

  async create(session: NewSession): Promise<Session> {
    const { client, groupDomain } = this.#options
    const body = toLoginSession(session, groupDomain)
    // Every login waits for this request. The object has no unknown or duplicate fields, so field
    // validation is skipped to save time; the schema is still checked.
    const path = `${sessionsPath(groupDomain)}?fieldValidation=Ignore`
    return toSession(parseObject(await client.call({ method: 'POST', path, body })))
  }

  /** Reads all sessions of a user from kube-apiserver. */
  async list(user: string): Promise<readonly Session[]> {
    const { client, groupDomain } = this.#options
    const query = new URLSearchParams({ fieldSelector: `spec.user=${user}` })
    const list = parseList(await client.call({ path: `${sessionsPath(groupDomain)}?${query}` }))
    return (list.items ?? []).map(toSession)
  }

  /** Reads the current session from kube-apiserver; undefined if it does not exist. */
  async read(sid: string): Promise<Session | undefined> {
    const object = await orUndefined(this.#options.client.call({ path: this.#path(sid) }), 404)
    return object === undefined ? undefined : toSession(parseObject(object))
  }

  /** @returns false if the session has changed since it was read */
  async update(session: Session): Promise<boolean> {
    const { client, groupDomain } = this.#options
    try {
      const body = toLoginSession(session, groupDomain)
      const stored = toSession(
        parseObject(await client.call({ method: 'PUT', path: this.#path(session.sid), body })),
      )
      // An end is final, so this replica need not wait for the watch.
      if (stored.ended !== '') {
        this.#sessions.set(stored.sid, stored)
        this.#options.onEnd?.(stored)
      }
      return true
    } catch (error) {
      if (isStatus(error, 404, 409)) return false
      throw error
    }
  }

  /** Deletes sessions whose tokens have all expired. Safe to run on every replica. */
  async collect(nowMs = Date.now()): Promise<void> {
    for (const { sid, expiresAtMs } of [...this.#sessions.values()]) {
      if (!this.#isOver(expiresAtMs, nowMs)) continue
      await orUndefined(this.#options.client.call({ method: 'DELETE', path: this.#path(sid) }), 404)
      this.#sessions.delete(sid)
    }
  }

  /**
   * Reports whether an unknown login must have been deleted (by a logout or with its user) before
   * this program listed the logins. Only this check rejects its tokens until they expire. The list
   * contains every login stored before it, and the watch reports all later ones.
   *
   * Because of clock skew, tokens from around the time of the list are uncertain: they are accepted
   * until the watch would have reported them. A login that is rejected too early is accepted again
   * once the watch reports it.
   */
  #isGone(issuedAtSeconds: number, nowMs: number): boolean {
    const skewMs = this.#options.clockSkewSeconds * 1000
    const earliestMs = issuedAtSeconds * 1000 - skewMs
    // iat has whole seconds, so the token may be almost a second younger.
    const latestMs = (issuedAtSeconds + 1) * 1000 + skewMs
    if (latestMs < this.#listedAtMs) return true
    return earliestMs <= this.#listedAtMs && nowMs > latestMs + watchLagMs
  }

  #path(sid: string): string {
    return `${sessionsPath(this.#options.groupDomain)}/${encodeURIComponent(sid)}`
  }

  #replace(sessions: readonly Session[]): void {
    const gone = new Map(this.#sessions)
    for (const session of sessions) {
      gone.delete(session.sid)
      this.#sessions.set(session.sid, session)
    }
    for (const session of gone.values()) this.#deleted(session)
    this.#listedAtMs = this.#askedAtMs
  }

  /** Remembers a login deleted before its expiry, and so revoked, until its tokens expire. */
  #deleted(session: Session): void {
    if (this.#isOver(session.expiresAtMs, Date.now())) {
      this.#sessions.delete(session.sid)
      return
    }
    const wasEnded = session.ended !== '' || this.#isKnownEnded(session.sid)
    const ended = { ...session, ended: session.ended || 'deleted' }
    this.#sessions.set(session.sid, ended)
    if (!wasEnded) this.#options.onEnd?.(ended)
  }

  #isKnownEnded(sid: string): boolean {
    const known = this.#sessions.get(sid)
    return known !== undefined && known.ended !== ''
  }

  #prune(nowMs = Date.now()): void {
    for (const { sid, expiresAtMs, ended } of this.#sessions.values()) {
      if (ended !== '' && this.#isOver(expiresAtMs, nowMs)) this.#sessions.delete(sid)
    }
  }

  #isOver(expiresAtMs: number, nowMs: number): boolean {
    return expiresAtMs + this.#options.accessTokenSeconds * 1000 < nowMs
  }
}
