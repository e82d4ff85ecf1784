import { unavailable } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { platformPrefixes, type RequestInfo, toResourceInfo } from '../../apirequest/request-info.ts'
import { withAnonymousCheck } from '../../authn/anonymous.ts'
import { AuthenticationConfigSource } from '../../authn/authentication-config.ts'
import { type Authenticated, createUnion } from '../../authn/authenticator.ts'
import { createBasicAuthenticator } from '../../authn/basic.ts'
import { createClientCertificateAuthenticator } from '../../authn/client-certificate.ts'
import { createFrontProxyAuthenticator } from '../../authn/front-proxy.ts'
import { impersonate } from '../../authn/impersonate.ts'
import { createKapisTokenAuthenticator } from '../../authn/kapis-token.ts'
import { stripCredentials } from '../../authn/strip-credentials.ts'
import { createTokenReviewAuthenticator } from '../../authn/token-review.ts'
import {
  type Authorize,
  createAuthorizer,
  type Explain,
  type RequirePermission,
} from '../../authz/authorizer.ts'
import type { NarrowingRole } from '../../authz/narrowing/narrowing-role.ts'
import type { RbacCheck } from '../../authz/review/rbac-check.ts'
import type { Config } from '../../config/config.ts'
import type { ClientAddress } from '../../httpserver/request/client-address.ts'
import { AccessRequestStore, noAccess } from '../../iam/accessrequests/access-request-store.ts'
import { isFactorRequired } from '../../iam/factors/factor-policy.ts'
import { createFactorRegistry } from '../../iam/factors/factor-store.ts'
import type { PasswordChecker } from '../../iam/passwords/password-check.ts'
import { isFreshLogin } from '../../iam/sessions/fresh-login.ts'
import { endLogin } from '../../iam/sessions/revoke-session.ts'
import { SessionStore } from '../../iam/sessions/session-store.ts'
import type { User } from '../../iam/users/user.ts'
import { UserStore } from '../../iam/users/user-store.ts'
import { isMultiFactor } from '../../jwt/authentication-methods.ts'
import { SecretKeySource } from '../../jwt/key-source.ts'
import { createTokenVerifier } from '../../jwt/verify.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { type Row, tally } from '../../telemetry/hot-counter.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Registry } from '../../telemetry/metrics.ts'
import type { Authenticate, Impersonate } from '../filters/handler-chain.ts'
import type { Check } from '../health/probes.ts'
import { createKubernetesVersion, isAtLeast } from './documents/kubernetes-version.ts'

/** Called with a User before and after a change; undefined if it did not or does not exist. */
type UserListener = (before: User | undefined, after: User | undefined) => void

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

export type AccessOptions = {
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
  readonly explain: Explain
  readonly narrowingRole: NarrowingRole
  readonly rbacCheck: RbacCheck
}

export function createAuth(options: AccessOptions): Auth {
  const { client, config, live, logger, registry, group, clientAddress, explain } = options
  const { groupDomain } = config
  const factors = createFactorRegistry({ client, namespace: config.kubernetes.namespace })
  const { issuer, audience, clockSkewSeconds, accessTokenSeconds, refreshTokenSeconds } = config.oauth
  const authentication = new AuthenticationConfigSource({ client, logger })
  const userListeners: UserListener[] = []
  const users = new UserStore({
    client,
    groupDomain,
    logger,
    onChange(_name, before, after) {
      for (const listener of userListeners) listener(before, after)
    },
  })
  const sessions = new SessionStore({
    client,
    groupDomain,
    logger,
    accessTokenSeconds,
    clockSkewSeconds,
    users,
  })
  const keys = new SecretKeySource({
    client,
    namespace: config.kubernetes.namespace,
    groupDomain,
    logger,
    tokenSeconds: refreshTokenSeconds,
  })
  const verifier = createTokenVerifier({ issuer, audience, clockSkewSeconds, keys })

  const attempts = tally(registry, {
    name: 'kapis_authentication_attempts_total',
    help: 'Credentials checked, by method and result.',
    labels: ['method', 'result'],
  })
  const decisions = tally(registry, {
    name: 'kapis_authorization_decisions_total',
    help: 'Authorization decisions, by result and source.',
    labels: ['decision', 'source'],
  })

  const known = {
    get(name: string) {
      // Before the first list has been stored, every user would appear to be unknown.
      if (!users.isReady || !sessions.isReady)
        throw unavailable('the cache for users has not synced yet; retry later')
      return users.get(name)
    },
  }
  const ingest = platformPrefixes.map(prefix => `/${prefix}/logging.${groupDomain}/v1alpha2/ingest`)
  let passwords: PasswordChecker | undefined
  const basic = createBasicAuthenticator({
    accepts(path) {
      if (ingest.some(prefix => path === prefix || path.startsWith(`${prefix}/`))) return forIngest
      return config.authentication.basicForApis && api.test(path) ? forApis : undefined
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
    users: known,
  })
  const accessRequests = new AccessRequestStore({ client, groupDomain, logger })
  const kapisTokens = createKapisTokenAuthenticator({
    given(user, sid) {
      const login = sessions.findLogin(sid)
      if (login === undefined) return noAccess
      const given = accessRequests.given(user)
      const isRequired = isFactorRequired(live().authentication.secondFactorGroups, given)
      return isRequired && !isMultiFactor(login.amr) ? noAccess : given
    },
    verifier,
    keys,
    users: known,
    sessions,
    clockSkewSeconds,
  })
  const credentials = createUnion(
    [
      createFrontProxyAuthenticator(() => authentication.current()),
      createClientCertificateAuthenticator(() => authentication.current()),
      basic,
      kapisTokens,
      createTokenReviewAuthenticator({ client, isOurs: verifier.isOurs }),
    ],
    byTwo((method, result) => attempts({ method, result })),
  )
  const union = withAnonymousCheck(credentials, options.isAnonymousAllowed)

  const authorize = createAuthorizer({
    client,
    group,
    explain,
    narrowingRole: options.narrowingRole,
    rbac: options.rbacCheck,
    observe: byTwo((decision, source) => decisions({ decision, source })),
  })

  const kubeVersion = createKubernetesVersion(client)
  // On by default since Kubernetes 1.36 (KEP-5284). It must be off here if it is off at
  // kube-apiserver: otherwise a role with all verbs would grant more here than there.
  const isConstrained = async () =>
    config.authentication.constrainedImpersonation === 'auto' && isAtLeast(await kubeVersion(), 36)

  return {
    authenticate(req) {
      const identified = ({ identity, method }: Authenticated) => {
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
    onUserChange: listener => void userListeners.push(listener),
    acceptPasswords(checker) {
      passwords = checker
    },
    async requirePermission(identity, permission) {
      await authorize(toResourceInfo(permission), identity)
    },
    checks: [
      {
        name: 'authentication-config',
        problem: () => (authentication.current() ? undefined : 'not read yet'),
      },
      { name: 'users', problem: () => (users.isReady && sessions.isReady ? undefined : 'not read yet') },
    ],
    clientCaPems: () => authentication.current()?.pems ?? [],
    onChange: listener => authentication.onChange(listener),
    start() {
      for (const part of [authentication, users, sessions, keys, accessRequests]) void part.start()
    },
    stop() {
      for (const part of [authentication, users, sessions, keys, accessRequests]) part.stop()
    },
  }
}

const api = /^(\/clusters\/[^/]+)?\/(kapis|kapi|apis|api)(\/|$)/
// A longer cache for log shippers: verifying costs more than storing a batch of log lines.
const forIngest = { cacheMs: 300_000, takesFirstPassword: true }
const forApis = { cacheMs: 10_000, takesFirstPassword: false }

/** Returns a function that counts by two labels, each of which has few values. */
function byTwo(rowOf: (a: string, b: string) => Row): (a: string, b: string) => void {
  const rows = new Map<string, Map<string, Row>>()
  return (a, b) => {
    const known = rows.get(a)?.get(b)
    if (known) return known.inc()
    const row = rowOf(a, b)
    rows.set(a, new Map(rows.get(a)).set(b, row))
    row.inc()
  }
}
