import { isStatus } from '../../apierrors/status.ts'
import { withoutField } from '../../json/fields.ts'
import { type KubeClient, mergePatch } from '../../kubeclient/client.ts'
import { lastAppliedAnnotation } from '../../kubeclient/object/last-applied.ts'
import { type KubeObject, parseObject } from '../../kubeclient/object/object.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { toUser, type User, userPath } from '../users/user.ts'
import type { PasswordStore } from './password-store.ts'
import type { PasswordWriter } from './password-writer.ts'

export type PasswordMigrationOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly users: { readonly all: () => Iterable<User> }
  readonly store: Pick<PasswordStore, 'sinceMs' | 'tidy'>
  readonly write: PasswordWriter
  readonly logger: Logger
  readonly now?: () => number
}

export type PasswordMigration = {
  /** Migrates a changed user. Must be called for every change of a user. */
  readonly changed: (after: User | undefined) => void
  /** Migrates all users. Must be called after loading and periodically; safe on every replica. */
  readonly sweep: () => Promise<void>
}

// Longer than a rollout. Replicas of older releases only know hashes in Users: they would end every
// login of a user whose hash was moved, and after a rollback no user could log in.
const rolloutMs = 600_000

/**
 * Moves password hashes from Users into Secrets: those of earlier releases, and those applied from
 * KubeSphere or a backup. Logins stay valid, since the fingerprint of the hash does not change. If
 * no Secret was ten minutes old at startup, the program may be part of a rollout: it waits ten
 * minutes.
 */
export function createPasswordMigration(options: PasswordMigrationOptions): PasswordMigration {
  const { client, groupDomain, users, store, write, logger, now = Date.now } = options
  const startedAtMs = now()
  /** Names of users that wait for migration, one after the other: many may be created together. */
  const waiting = new Set<string>()
  let isMoving = false
  /** When migration may begin; Infinity before the first sweep. */
  let fromMs = Number.POSITIVE_INFINITY

  async function move(name: string): Promise<boolean> {
    const path = userPath(groupDomain, name)
    try {
      const object = parseObject(await client.call({ path }))
      const user = toUser(object)
      if (!holdsHash(user)) return false
      const annotations = withoutAppliedHash(object)
      if (user.inlineHash !== undefined) await write(user, user.inlineHash, annotations)
      else {
        const { uid, resourceVersion } = user
        await client.call(mergePatch(path, { metadata: { uid, resourceVersion, annotations } }))
      }
      return true
    } catch (error) {
      // The user was deleted, changed or migrated concurrently.
      if (isStatus(error, 404, 409)) return false
      throw error
    }
  }

  /** Migrates the waiting users. A failure does not stop others; the next run retries it. */
  async function moveWaiting(): Promise<void> {
    if (isMoving) return
    isMoving = true
    let moved = 0
    for (const user of waiting) {
      waiting.delete(user)
      try {
        if (await move(user)) moved++
      } catch (err) {
        logger.warn({ err, user }, 'failed to move a password hash into a Secret, retrying')
      }
    }
    isMoving = false
    if (moved > 0) logger.info({ users: moved }, 'moved password hashes from Users into Secrets')
  }

  async function tidy(user: User): Promise<void> {
    await store
      .tidy(user)
      .catch(err => logger.warn({ err, user: user.name }, 'failed to clean up a password Secret'))
  }

  return {
    changed(after) {
      if (after === undefined || !holdsHash(after) || now() < fromMs) return
      waiting.add(after.name)
      void moveWaiting()
    },
    async sweep() {
      const all = [...users.all()]
      const found = all.filter(holdsHash)
      if (!Number.isFinite(fromMs)) {
        const isRollout = found.length > 0 && store.sinceMs > startedAtMs - rolloutMs
        fromMs = isRollout ? startedAtMs + rolloutMs : 0
      }
      for (const user of all) await tidy(user)
      if (now() < fromMs) return
      for (const { name } of found) waiting.add(name)
      await moveWaiting()
    },
  }
}

function holdsHash({ inlineHash, hasAppliedHash }: User): boolean {
  return inlineHash !== undefined || hasAppliedHash
}

/** Returns annotations that remove the hash from last-applied-configuration of kubectl. */
function withoutAppliedHash({ metadata }: KubeObject): Readonly<Record<string, string | null>> {
  const applied = metadata.annotations?.[lastAppliedAnnotation]
  if (applied === undefined) return {}
  return { [lastAppliedAnnotation]: withoutPassword(applied) }
}

/** Returns the applied configuration without the password; null if the configuration is invalid. */
function withoutPassword(applied: string): string | null {
  try {
    JSON.parse(applied)
  } catch {
    return null
  }
  return withoutField(applied.trim(), ['spec', 'password'])
}
