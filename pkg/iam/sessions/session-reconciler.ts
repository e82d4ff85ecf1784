import type { Logger } from '../../telemetry/logger.ts'
import type { User } from '../users/user.ts'
import { endLogin } from './revoke-session.ts'
import { isObsoleteSession, type Session } from './session.ts'

export type SessionReconcilerOptions = {
  /** Reads the current user from kube-apiserver; undefined if it does not exist. */
  readonly readUser: (name: string) => Promise<User | undefined>
  readonly sessions: {
    readonly all: () => Iterable<Session>
    readonly read: (sid: string) => Promise<Session | undefined>
    readonly update: (session: Session) => Promise<boolean>
  }
  readonly logger: Logger
}

export type SessionReconciler = {
  /** Must be called for every change of a user; undefined means deleted or not yet created. */
  readonly changed: (name: string, before: User | undefined, after: User | undefined) => void
  /** Ends logins of users who changed while the program was not running. */
  readonly checkAll: (known: (name: string) => User | undefined) => Promise<void>
}

/**
 * Ends the logins of users who are disabled, deleted or have a new password. The end is stored, so
 * that it is permanent even if the user is created again. Safe to run on every replica.
 */
export function createSessionReconciler({
  readUser,
  sessions,
  logger,
}: SessionReconcilerOptions): SessionReconciler {
  async function check(name: string): Promise<void> {
    const open = [...sessions.all()].filter(session => session.user === name && session.ended === '')
    if (open.length === 0) return
    // The cached user may be older than the login, so kube-apiserver decides about its end.
    const user = await readUser(name)
    for (const session of open) {
      const why = whyEnded(session, user)
      if (why !== undefined) await end(session, why)
    }
  }

  async function end(session: Session, why: string): Promise<void> {
    if (await endLogin(sessions, session, why))
      logger.info({ audit: 'session', user: session.user, sid: session.sid, reason: why }, 'login ended')
  }

  return {
    changed(name, before, after) {
      const isNew = before === undefined
      const isSame =
        before?.uid === after?.uid &&
        before?.credential === after?.credential &&
        before?.state === after?.state
      if (isNew || isSame) return
      check(name).catch(err =>
        logger.warn({ err, user: name }, 'failed to end the logins of a user, retrying'),
      )
    },
    async checkAll(known) {
      const names = new Set<string>()
      for (const session of sessions.all()) {
        if (session.ended === '' && whyEnded(session, known(session.user)) !== undefined)
          names.add(session.user)
      }
      for (const name of names) await check(name)
    },
  }
}

function whyEnded(session: Session, user: User | undefined): string | undefined {
  if (user === undefined) return 'user deleted'
  if (user.state === 'Disabled') return 'user disabled'
  if (isObsoleteSession(session, user)) return 'password changed'
  return undefined
}
