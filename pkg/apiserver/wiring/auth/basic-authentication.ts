import { unavailable } from '../../../apierrors/status.ts'
import { platformPrefixes } from '../../../apirequest/request-info.ts'
import { type BasicAuthenticator, createBasicAuthenticator } from '../../../authn/basic.ts'
import type { Config } from '../../../config/config.ts'
import type { ClientAddress } from '../../../httpserver/request/client-address.ts'
import { isFactorRequired } from '../../../iam/factors/factor-policy.ts'
import { createFactorRegistry } from '../../../iam/factors/factor-store.ts'
import type { PasswordChecker } from '../../../iam/passwords/password-check.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import type { LoginStores } from './login-stores.ts'

export type BasicAuthentication = BasicAuthenticator & {
  /** Sets the password check. Until it is set, passwords are rejected with 503. */
  readonly acceptPasswords: (passwords: PasswordChecker) => void
}

// A longer cache for log shippers: verifying costs more than storing a batch of log lines.
const forIngest = { cacheMs: 300_000, takesFirstPassword: true }
const forApis = { cacheMs: 10_000, takesFirstPassword: false }
const apiPath = /^(\/clusters\/[^/]+)?\/(kapis|kapi|apis|api)(\/|$)/

/** Accepts passwords of log shippers, and of SDKs if the configuration allows it. */
export function createBasicAuthentication(parts: {
  readonly client: KubeClient
  readonly config: Config
  readonly live: () => Config
  readonly clientAddress: ClientAddress
  readonly users: LoginStores['syncedUsers']
}): BasicAuthentication {
  const { client, config, live, clientAddress, users } = parts
  const factors = createFactorRegistry({ client, namespace: config.kubernetes.namespace })
  const ingestPaths = platformPrefixes.map(
    prefix => `/${prefix}/logging.${config.groupDomain}/v1alpha2/ingest`,
  )
  let passwords: PasswordChecker | undefined
  const authenticator = createBasicAuthenticator({
    accepts(path) {
      if (ingestPaths.some(prefix => path === prefix || path.startsWith(`${prefix}/`))) return forIngest
      return config.authentication.basicForApis && apiPath.test(path) ? forApis : undefined
    },
    async check(req, login, password) {
      if (passwords === undefined) throw unavailable('passwords cannot be checked yet; retry later')
      const source = { address: clientAddress(req), userAgent: req.headers['user-agent'] ?? '' }
      const verdict = await passwords.check({ login, password, source })
      if (verdict.outcome !== 'right') return verdict
      const { user } = verdict
      const isRequired = isFactorRequired(live().authentication.secondFactorGroups, user)
      return isRequired || (await factors.has(user)) ? { outcome: 'second-factor-required' } : verdict
    },
    users,
  })
  return {
    ...authenticator,
    acceptPasswords(checker) {
      passwords = checker
    },
  }
}
