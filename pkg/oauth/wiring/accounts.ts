import { createFactorStore } from '../../iam/factors/factor-store.ts'
import { createOwnPasswordWriter } from '../../iam/passwords/change-password.ts'
import { createPasswordHasher } from '../../iam/passwords/password.ts'
import { createPasswordMigration } from '../../iam/passwords/password-migration.ts'
import { createPasswordService } from '../../iam/passwords/password-service.ts'
import { PasswordStore } from '../../iam/passwords/password-store.ts'
import { createPasswordWriter } from '../../iam/passwords/password-writer.ts'
import type { Session } from '../../iam/sessions/session.ts'
import { createSessionReconciler } from '../../iam/sessions/session-reconciler.ts'
import { SessionStore } from '../../iam/sessions/session-store.ts'
import { ensureFirstAdministrator } from '../../iam/users/first-administrator.ts'
import { readUser, type User } from '../../iam/users/user.ts'
import { UserStore } from '../../iam/users/user-store.ts'
import type { Dependencies } from './dependencies.ts'

export type Accounts = Awaited<ReturnType<typeof createAccounts>>

/** Creates the stores and services of users, passwords and logins. */
export async function createAccounts(
  { config, logger, client, metricsRegistry }: Dependencies,
  onSessionEnd: (session: Session) => void,
) {
  const { groupDomain, authentication } = config
  const { namespace } = config.kubernetes
  const { accessTokenSeconds, clockSkewSeconds } = config.oauth
  const hasher = await createPasswordHasher()
  const users: UserStore = new UserStore({
    client,
    groupDomain,
    logger,
    onChange(name, before, after) {
      keeper.changed(name, before, after)
      passwords.changed(before, after)
      mover.changed(after)
    },
  })
  const sessions = new SessionStore({
    ...{ client, groupDomain, logger, users },
    ...{ accessTokenSeconds, clockSkewSeconds, onEnd: onSessionEnd },
  })
  const keeper = createSessionReconciler({
    readUser: name => readUser(client, groupDomain, name),
    sessions,
    logger,
  })
  const store = new PasswordStore({ client, groupDomain, namespace, logger })
  const hashOf = (user: User) => store.hashOf(user)
  const write = createPasswordWriter({ client, groupDomain, store })
  const mover = createPasswordMigration({ client, groupDomain, users, store, write, logger })
  const passwords = createPasswordService({
    ...{ client, groupDomain, namespace, authentication },
    ...{ users, hasher, hashOf, logger, registry: metricsRegistry },
  })

  return {
    users,
    sessions,
    passwords,
    hasher,
    hashOf,
    factorStore: createFactorStore({ client, groupDomain, namespace }),
    changePassword: createOwnPasswordWriter({ groupDomain, write }),
    watching: [users, sessions, store, passwords],
    /** Creates the objects that the first login requires. */
    async prepare() {
      await store.requireSchema()
      await ensureFirstAdministrator({ client, groupDomain, namespace, hasher, store, logger })
    },
    /** Ends the logins of changed users, and moves passwords to the password store. */
    async reconcile() {
      await mover.sweep()
      await keeper.checkAll(name => users.get(name))
    },
    /** Removes ended sessions and old login records. */
    async collect() {
      await sessions.collect()
      await passwords.keepUp()
    },
  }
}
