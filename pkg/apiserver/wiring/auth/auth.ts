import type { Identity } from '../../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../../apirequest/request-context.ts'
import { type RequestInfo, toResourceInfo } from '../../../apirequest/request-info.ts'
import { withAnonymousCheck } from '../../../authn/anonymous.ts'
import { AuthenticationConfigSource } from '../../../authn/authentication-config.ts'
import { type Authentication, createUnion } from '../../../authn/authenticator.ts'
import { createClientCertificateAuthenticator } from '../../../authn/client-certificate.ts'
import { createFrontProxyAuthenticator } from '../../../authn/front-proxy.ts'
import { impersonate } from '../../../authn/impersonate.ts'
import { createKapisTokenAuthenticator } from '../../../authn/kapis-token.ts'
import { stripCredentials } from '../../../authn/strip-credentials.ts'
import { createTokenReviewAuthenticator } from '../../../authn/token-review.ts'
import {
  type Authorize,
  createAuthorizer,
  type ExplainDenial,
  type RequirePermission,
} from '../../../authz/authorizer.ts'
import type { NarrowingRole } from '../../../authz/narrowing/narrowing-role.ts'
import type { RbacCheck } from '../../../authz/review/rbac-check.ts'
import type { Config } from '../../../config/config.ts'
import type { ClientAddress } from '../../../httpserver/request/client-address.ts'
import { noAccess } from '../../../iam/accessrequests/access-request-store.ts'
import { isFactorRequired } from '../../../iam/factors/factor-policy.ts'
import type { PasswordChecker } from '../../../iam/passwords/password-check.ts'
import { isFreshLogin } from '../../../iam/sessions/fresh-login.ts'
import { endLogin } from '../../../iam/sessions/revoke-session.ts'
import type { UserStore } from '../../../iam/users/user-store.ts'
import { isMultiFactor } from '../../../jwt/authentication-methods.ts'
import { createTokenVerifier } from '../../../jwt/verify.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { hotCounterOfPairs } from '../../../telemetry/hot-counter.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Registry } from '../../../telemetry/metrics.ts'
import type { Authenticate, Impersonate } from '../../filters/handler-chain.ts'
import type { Check } from '../../health/probes.ts'
import { createKubernetesVersion, isAtLeast } from '../documents/kubernetes-version.ts'
import { createBasicAuthentication } from './basic-authentication.ts'
import { createLoginStores, type UserListener } from './login-stores.ts'

export type Auth = {
  readonly authenticate: Authenticate
  /** Returns whether the login of an authenticated caller has ended since the authentication. */
  readonly hasEnded: (identity: Identity) => boolean
  /** Returns whether a caller has just logged in (fresh-login.ts). @throws Status 503 */
  readonly hasJustLoggedIn: (exchange: AuthenticatedExchange) => Promise<boolean>
  /** @param requestOf returns the attributes with which to authorize a request */
  readonly impersonate: (requestOf: RequestOf) => Impersonate
  /** Ends all logins of a user, including personal access tokens. @throws Status 503 */
  readonly endLogins: (user: string, why: string) => Promise<void>
  readonly authorize: Authorize
  /** Requires an RBAC permission. @throws Status 403, 503 */
  readonly requirePermission: RequirePermission
  readonly checks: readonly Check[]
  readonly users: UserStore
  readonly onUserChange: (listener: UserListener) => void
  /** Sets the password check for log shippers. Until it is set, passwords are rejected. */
  readonly acceptPasswords: (passwords: PasswordChecker) => void
  /** Returns the current CAs for client certificates. */
  readonly clientCaPems: () => readonly string[]
  readonly onChange: (listener: () => void) => void
  readonly start: () => void
  readonly stop: () => void
}

type RequestOf = (exchange: AuthenticatedExchange) => Promise<RequestInfo> | RequestInfo

export type AuthOptions = {
  readonly client: KubeClient
  /** Returns whether kube-apiserver accepts requests without a credential. @throws Status 503 */
  readonly isAnonymousAllowed: () => Promise<boolean>
  readonly config: Config
  /** Returns the current values of options that can change without a restart. */
  readonly live: () => Config
  readonly logger: Logger
  readonly registry: Registry
  readonly group: string
  readonly clientAddress: ClientAddress
  /** Explains why RBAC denies a request, for callers who may read RBAC. */
  readonly explain: ExplainDenial
  readonly narrowingRole: NarrowingRole
  readonly rbacCheck: RbacCheck
}

/** Wires the stores of logins, the authenticators and the authorizer. */
export function createAuth(options: AuthOptions): Auth {
  const { client, config, live, logger, registry, clientAddress } = options
  const { issuer, audience, clockSkewSeconds } = config.oauth
  const authentication = new AuthenticationConfigSource({ client, logger })
  const stores = createLoginStores({ client, config, logger })
  const { users, syncedUsers, sessions, accessRequests, keys } = stores
  const verifier = createTokenVerifier({ issuer, audience, clockSkewSeconds, keys })
  const basic = createBasicAuthentication({ client, config, live, clientAddress, users: syncedUsers })
  const kapisTokens = createKapisTokenAuthenticator({
    findAccess(user, sid) {
      const login = sessions.findLogin(sid)
      if (login === undefined) return noAccess
      const findAccess = accessRequests.accessOf(user)
      const isRequired = isFactorRequired(live().authentication.secondFactorGroups, findAccess)
      return isRequired && !isMultiFactor(login.amr) ? noAccess : findAccess
    },
    ...{ verifier, keys, users: syncedUsers, sessions, clockSkewSeconds },
  })
  const credentials = createUnion(
    [
      createFrontProxyAuthenticator(() => authentication.current()),
      createClientCertificateAuthenticator(() => authentication.current()),
      basic,
      kapisTokens,
      createTokenReviewAuthenticator({ client, isOurs: verifier.isOurs }),
    ],
    hotCounterOfPairs(registry, {
      name: 'kapis_authentication_attempts_total',
      help: 'Credentials checked, by method and result.',
      labels: ['method', 'result'],
    }),
  )
  const union = withAnonymousCheck(credentials, options.isAnonymousAllowed)
  const authorize = createAuthorizer({
    client,
    group: options.group,
    explain: options.explain,
    narrowingRole: options.narrowingRole,
    rbac: options.rbacCheck,
    observe: hotCounterOfPairs(registry, {
      name: 'kapis_authorization_decisions_total',
      help: 'Authorization decisions, by result and source.',
      labels: ['decision', 'source'],
    }),
  })
  const kubeVersion = createKubernetesVersion(client)
  // On by default since Kubernetes 1.36 (KEP-5284). It must be off here if it is off at
  // kube-apiserver: otherwise a role with all verbs would grant more here than there.
  const isConstrained = async () =>
    config.authentication.constrainedImpersonation === 'auto' && isAtLeast(await kubeVersion(), 36)

  return {
    authenticate(req) {
      const identified = ({ identity, method }: Authentication) => {
        stripCredentials(req)
        return { identity, isAggregated: method === 'front-proxy' }
      }
      const found = union(req)
      return found instanceof Promise ? found.then(identified) : identified(found)
    },
    hasEnded: identity => kapisTokens.hasEnded(identity) || basic.hasEnded(identity),
    async hasJustLoggedIn({ identity, impersonator }) {
      const sid = impersonator === undefined ? kapisTokens.sidOf(identity) : undefined
      const session = sid === undefined ? undefined : await sessions.read(sid)
      const user = users.get(identity.username)
      return session !== undefined && user !== undefined && isFreshLogin(session, user)
    },
    async endLogins(user, why) {
      for (const session of await sessions.list(user)) await endLogin(sessions, session, why)
    },
    impersonate: requestOf => exchange => {
      const { req, identity: caller } = exchange
      return impersonate({ req, caller, may: authorize, requestOf: () => requestOf(exchange), isConstrained })
    },
    authorize,
    users,
    onUserChange: stores.onUserChange,
    acceptPasswords: basic.acceptPasswords,
    async requirePermission(identity, permission) {
      await authorize(toResourceInfo(permission), identity)
    },
    checks: [
      {
        name: 'authentication-config',
        problem: () => (authentication.current() ? undefined : 'not read yet'),
      },
      stores.check,
    ],
    clientCaPems: () => authentication.current()?.pems ?? [],
    onChange: listener => authentication.onChange(listener),
    start() {
      void authentication.start()
      stores.start()
    },
    stop() {
      authentication.stop()
      stores.stop()
    },
  }
}
