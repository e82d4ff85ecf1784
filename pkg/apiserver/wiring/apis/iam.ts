import type { Handler } from '../../../apirequest/request-context.ts'
import { toResourceInfo } from '../../../apirequest/request-info.ts'
import type { Config } from '../../../config/config.ts'
import type { ClientAddress } from '../../../httpserver/request/client-address.ts'
import { createFactorRegistry } from '../../../iam/factors/factor-store.ts'
import { createPasswordHasher } from '../../../iam/passwords/password.ts'
import { createPasswordService } from '../../../iam/passwords/password-service.ts'
import { PasswordStore } from '../../../iam/passwords/password-store.ts'
import { createUserWriter } from '../../../iam/users/user-writer.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { createIamApi, type IamApi } from '../../../platformapi/iam/v1alpha2/serve.ts'
import type { CallAs } from '../../../platformapi/write/as-caller.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Registry } from '../../../telemetry/metrics.ts'
import type { Auth } from '../auth/auth.ts'
import type { Resources } from './resources.ts'

export type IamParts = {
  readonly client: KubeClient
  readonly config: Config
  readonly clientAddress: ClientAddress
  readonly access: Pick<
    Auth,
    | 'users'
    | 'onUserChange'
    | 'acceptPasswords'
    | 'requirePermission'
    | 'authorize'
    | 'hasJustLoggedIn'
    | 'endLogins'
  >
  readonly callAs: CallAs
  readonly views: Resources['views']
  readonly list: Resources['items']
  readonly rest: Handler
  readonly logger: Logger
  readonly registry: Registry
}

export type Iam = IamApi & {
  readonly start: () => void
  readonly stop: () => void
}

// Password changes are rare, so one thread is enough and leaves the others free.
const hashThreads = 1

/** Wires the users API with password checks and writers. */
export async function createIam(parts: IamParts): Promise<Iam> {
  const { client, config, clientAddress, access, callAs, views, list, rest, logger, registry } = parts
  const { users } = access
  const { groupDomain, authentication } = config
  const { namespace } = config.kubernetes
  const hasher = await createPasswordHasher(hashThreads)
  const store = new PasswordStore({ client, groupDomain, namespace, logger })
  const passwords = createPasswordService({
    ...{ client, groupDomain, namespace, authentication, users, hasher, logger, registry },
    hashOf: user => store.hashOf(user),
  })
  access.onUserChange(passwords.changed)
  access.acceptPasswords(passwords)
  const api = createIamApi({
    client,
    groupDomain,
    users,
    writer: createUserWriter({ client, groupDomain, hasher, store, users }),
    passwords,
    async isPassword(name, password) {
      const user = users.get(name)
      return user !== undefined && hasher.verify(password, await store.hashOf(user))
    },
    hasJustLoggedIn: access.hasJustLoggedIn,
    removeFactors: createFactorRegistry({ client, namespace }).remove,
    endLogins: access.endLogins,
    requirePermission: access.requirePermission,
    clientAddress,
    list,
    rest,
    roles: {
      callAs,
      ...views,
      async require({ identity }, permission) {
        await access.authorize(toResourceInfo(permission), identity)
      },
    },
    logger,
  })
  return {
    ...api,
    start() {
      void store.start()
      void passwords.start()
    },
    stop() {
      store.stop()
      passwords.stop()
    },
  }
}
