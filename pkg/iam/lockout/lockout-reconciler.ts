import { type KubeClient, mergePatch } from '../../kubeclient/client.ts'
import { isConflict, retryOnConflict } from '../../kubeclient/retry.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { stateLockedUntilMs } from '../passwords/password-check.ts'
import { readUser, type User, type UserState, userPath } from '../users/user.ts'

export type LockoutReconcilerOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly maxTries: number
  readonly durationSeconds: number
  readonly logger: Logger
}

export type LockoutReconciler = {
  /** Stores that a user is locked. The lock is effective even if this fails. */
  readonly lock: (user: User) => void
  /** Removes expired locks, and dates those set by hand; safe on every replica. */
  readonly release: (users: Iterable<User>) => Promise<void>
}

/** Maintains status.state of locked users, which administrators see and restarts keep. */
export function createLockoutReconciler(options: LockoutReconcilerOptions): LockoutReconciler {
  const { client, groupDomain, maxTries, durationSeconds, logger } = options

  async function write(user: User, state: UserState, reason: string, sinceMs: number): Promise<void> {
    const body = {
      // Rejected with a conflict if the user was changed concurrently: that takes precedence.
      metadata: { uid: user.uid, resourceVersion: user.resourceVersion },
      status: { state, reason, lastTransitionTime: toMetaTime(sinceMs) },
    }
    await client.call(mergePatch(`${userPath(groupDomain, user.name)}/status`, body))
  }

  async function lock(known: User): Promise<void> {
    const sinceMs = Date.now()
    const reason = `Failed login attempts exceed ${maxTries} in last ${durationSeconds}s`
    // Retried, since a concurrent login also changes the user.
    const isLocked = await retryOnConflict(async () => {
      const user = await readUser(client, groupDomain, known.name)
      if (user?.uid !== known.uid || user.state !== 'Active') return false
      await write(user, 'AuthLimitExceeded', reason, sinceMs)
      return true
    })
    if (!isLocked) return
    logger.info({ audit: 'lock', user: known.name, reason: 'too_many_failures' }, 'user locked')
  }

  async function isWritten(writing: Promise<void>): Promise<boolean> {
    try {
      await writing
      return true
    } catch (error) {
      if (isConflict(error)) return false
      throw error
    }
  }

  return {
    lock: user =>
      void lock(user).catch(err =>
        logger.warn({ err, user: user.name }, 'failed to update the lockout state of the user'),
      ),
    async release(users) {
      for (const user of users) {
        if (user.state !== 'AuthLimitExceeded') continue
        if (user.stateSinceMs === 0)
          await isWritten(write(user, user.state, 'Locked by an administrator', Date.now()))
        else if (stateLockedUntilMs(user, durationSeconds) === undefined) {
          if (await isWritten(write(user, 'Active', '', Date.now())))
            logger.info({ audit: 'lock', user: user.name, reason: 'time_is_over' }, 'user unlocked')
        }
      }
    },
  }
}

/** Formats a time as metav1.Time, which has whole seconds. */
export function toMetaTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
