import { unavailable } from '../../../apierrors/status.ts'
import type { Config } from '../../../config/config.ts'
import { AccessRequestStore } from '../../../iam/accessrequests/access-request-store.ts'
import { SessionStore } from '../../../iam/sessions/session-store.ts'
import type { User } from '../../../iam/users/user.ts'
import { UserStore } from '../../../iam/users/user-store.ts'
import { SecretKeySource } from '../../../jwt/key-source.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Check } from '../../health/probes.ts'

/** Called with a User before and after a change; undefined if it did not or does not exist. */
export type UserListener = (before: User | undefined, after: User | undefined) => void

/** The stores that tokens are checked against. Each watches kube-apiserver. */
export type LoginStores = {
  readonly users: UserStore
  /** Finds users by name. @throws Status 503 before the first list */
  readonly syncedUsers: Pick<UserStore, 'get'>
  readonly sessions: SessionStore
  readonly accessRequests: AccessRequestStore
  /** The keys that sign tokens. */
  readonly keys: SecretKeySource
  readonly onUserChange: (listener: UserListener) => void
  readonly check: Check
  readonly start: () => void
  readonly stop: () => void
}

export function createLoginStores(parts: {
  readonly client: KubeClient
  readonly config: Config
  readonly logger: Logger
}): LoginStores {
  const { client, config, logger } = parts
  const { groupDomain } = config
  const { clockSkewSeconds, accessTokenSeconds, refreshTokenSeconds } = config.oauth
  const listeners: UserListener[] = []
  const users = new UserStore({
    client,
    groupDomain,
    logger,
    onChange(_name, before, after) {
      for (const listener of listeners) listener(before, after)
    },
  })
  const sessions = new SessionStore({
    ...{ client, groupDomain, logger, accessTokenSeconds, clockSkewSeconds, users },
  })
  const accessRequests = new AccessRequestStore({ client, groupDomain, logger })
  const keys = new SecretKeySource({
    ...{ client, groupDomain, logger },
    namespace: config.kubernetes.namespace,
    tokenSeconds: refreshTokenSeconds,
  })
  const stores = [users, sessions, accessRequests, keys]
  const isSynced = () => users.isReady && sessions.isReady
  return {
    users,
    syncedUsers: {
      get(name) {
        // Before the first list has been stored, every user would appear to be unknown.
        if (!isSynced()) throw unavailable('the cache for users has not synced yet; retry later')
        return users.get(name)
      },
    },
    ...{ sessions, accessRequests, keys },
    onUserChange: listener => void listeners.push(listener),
    check: { name: 'users', problem: () => (isSynced() ? undefined : 'not read yet') },
    start() {
      for (const store of stores) void store.start()
    },
    stop() {
      for (const store of stores) store.stop()
    },
  }
}
