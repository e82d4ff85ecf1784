import { unavailable } from '../apierrors/status.ts'
import { createUnion } from '../authn/authenticator.ts'
import { createKapisTokenAuthenticator } from '../authn/kapis-token.ts'
import { createTokenReviewAuthenticator } from '../authn/token-review.ts'
import type { Config, Secrets } from '../config/config.ts'
import type { Reloads } from '../config/config-file.ts'
import { observeReloads } from '../config/reload-metrics.ts'
import { logPageClient } from '../config/sections/client.ts'
import { readProxyEnvironment } from '../http/proxy-environment.ts'
import { createAccountLinking } from '../iam/identityprovider/linking/account-linking.ts'
import { createGroupReconciler } from '../iam/identityprovider/linking/group-reconciler.ts'
import { createLinker } from '../iam/identityprovider/linking/link-writer.ts'
import { createGroupWriter } from '../iam/identityprovider/linking/provider-groups.ts'
import { createRegistrar } from '../iam/identityprovider/linking/registration.ts'
import { createProviderMetrics } from '../iam/identityprovider/metrics.ts'
import { createProviderClient } from '../iam/identityprovider/provider-client.ts'
import { createProviderReconciler } from '../iam/identityprovider/provider-reconciler.ts'
import { ProviderStore } from '../iam/identityprovider/provider-store.ts'
import { createOwnPasswordWriter } from '../iam/passwords/change-password.ts'
import { createPasswordHasher } from '../iam/passwords/password.ts'
import { createPasswordMigration } from '../iam/passwords/password-migration.ts'
import { createPasswordService } from '../iam/passwords/password-service.ts'
import { PasswordStore } from '../iam/passwords/password-store.ts'
import { createPasswordWriter } from '../iam/passwords/password-writer.ts'
import { ClientStore } from '../iam/sessions/client-store.ts'
import { createDeviceStore } from '../iam/sessions/device-authorization.ts'
import { createSessionKeeper } from '../iam/sessions/session-reconciler.ts'
import { SessionStore } from '../iam/sessions/session-store.ts'
import { ensureFirstAdministrator } from '../iam/users/first-administrator.ts'
import { readUser, type User } from '../iam/users/user.ts'
import { UserStore } from '../iam/users/user-store.ts'
import { createInternalJwts } from '../jwt/internal-jwt.ts'
import { createTokenIssuer } from '../jwt/issue.ts'
import { SecretKeySource } from '../jwt/key-source.ts'
import { publishAhead } from '../jwt/rotation.ts'
import { createTokenVerifier } from '../jwt/verify.ts'
import { createKubeClient } from '../kubeclient/client.ts'
import { loadRestConfig } from '../kubeclient/rest-config.ts'
import { retryUntilSuccess } from '../kubeclient/retry.ts'
import { withServiceAccountErrors } from '../kubeclient/service-account-errors.ts'
import { collectGarbage } from '../telemetry/collect-garbage.ts'
import type { Logger } from '../telemetry/logger.ts'
import { createRegistry } from '../telemetry/metrics.ts'
import { startTracing } from '../telemetry/tracing/start.ts'
import { createPollRateLimit } from './device/poll-rate-limit.ts'
import { createOAuthApp } from './server/app.ts'
import { createTokenAudit } from './server/audit.ts'
import { createOAuthMetrics } from './server/metrics.ts'
import { closeServer, listenOnSocket } from './server/oauth-server.ts'
import { createWorkloadIdentity } from './workload-identity.ts'

const maxUpkeepEveryMs = 5 * 60_000
// kube-apiserver fetches the keys again for an unknown key ID only if the cached ones expire within
// 30 seconds, so this makes it fetch new keys immediately.
const maxKeysAgeSeconds = 30

/** Runs kapis-oauth until `signal` aborts. kube-apiserver may start later than this program. */
export async function runOAuth(
  parts: { config: Config; secrets: Secrets; reloads: Reloads; logger: Logger; version: string },
  signal: AbortSignal,
): Promise<void> {
  // Reports an invalid certificate at the start, and not with the first connection.
  readProxyEnvironment(process.env)
  const { config, secrets, reloads, logger } = parts
  const { groupDomain } = config
  const { issuer, audience, clockSkewSeconds, accessTokenSeconds, refreshTokenSeconds, socket } = config.oauth
  const { loginMaxAgeSeconds, keyRotationSeconds } = config.oauth
  const { namespace, kubeconfig } = config.kubernetes
  const publishAheadSeconds = publishAhead(keyRotationSeconds)
  const metricsRegistry = createRegistry()
  observeReloads(metricsRegistry, reloads)
  const tracing = await startTracing({
    config: config.tracing,
    program: 'kapis-oauth',
    version: parts.version,
    logger,
    registry: metricsRegistry,
    // Only kapis-apiserver can connect to the socket, and it has decided about the trace.
    continues: 'everybody',
  })
  const endpoint = loadRestConfig(kubeconfig)
  const kubeApiserver = { name: 'kube-apiserver', url: endpoint.url }
  const client = withServiceAccountErrors(tracing.client(createKubeClient(endpoint), kubeApiserver))
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
    client,
    groupDomain,
    logger,
    accessTokenSeconds,
    clockSkewSeconds,
    users,
  })
  const keeper = createSessionKeeper({
    readUser: name => readUser(client, groupDomain, name),
    sessions,
    logger,
  })
  const { authentication } = config
  const store = new PasswordStore({ client, groupDomain, namespace, logger })
  const hashOf = (user: User) => store.hashOf(user)
  const writePassword = createPasswordWriter({ client, groupDomain, store })
  const mover = createPasswordMigration({ client, groupDomain, users, store, write: writePassword, logger })
  const passwords = createPasswordService({
    client,
    groupDomain,
    namespace,
    authentication,
    users,
    hasher,
    hashOf,
    logger,
    registry: metricsRegistry,
  })
  const tokenSeconds = refreshTokenSeconds + clockSkewSeconds
  const keys: SecretKeySource = new SecretKeySource({
    client,
    namespace,
    groupDomain,
    logger,
    rotateAfterSeconds: keyRotationSeconds,
    tokenSeconds,
    // Before the first list, it is unknown which tokens are in use.
    isNeeded: (from, until) => !sessions.isReady || sessions.hasTokenOf(from, until),
    isRemembered: (from, until) => !sessions.isReady || sessions.hasIdTokenOf(from, until),
    onAsked: () =>
      void keys.ensure().catch(err => logger.warn({ err }, 'failed to rotate the signing keys, retrying')),
  })
  const verifier = createTokenVerifier({ issuer, audience, clockSkewSeconds, keys })

  const clients = new ClientStore({
    client,
    groupDomain,
    namespace,
    logger,
    configured: [
      ...(config.logs.store === 'none' ? [] : [logPageClient(issuer)]),
      ...config.oauth.clients,
    ].map(each => ({ client: each, secret: secrets.clientSecrets.get(each.name) })),
  })

  const providers: ProviderStore = new ProviderStore({
    client,
    groupDomain,
    namespace,
    logger,
    createProviderClient,
    onChange: () =>
      void providerKeeper
        .check()
        .catch(err => logger.warn({ err }, 'failed to end the logins of an identity provider, retrying')),
  })
  const providerKeeper = createProviderReconciler({ providers, sessions, logger })
  createProviderMetrics(metricsRegistry, () => providers.entries())
  const putGroups = createGroupWriter(client, groupDomain)
  const groupKeeper = createGroupReconciler({ providers, users, sessions, putGroups, logger })

  const devices = createDeviceStore({ client, groupDomain })

  let isPrepared = false
  const isReady = () =>
    isPrepared && [users, sessions, keys, clients, store, passwords, providers].every(part => part.isReady)
  const known = {
    get(name: string) {
      if (!isReady()) throw unavailable('the cache for users has not synced yet; retry later')
      return users.get(name)
    },
  }
  const authenticate = createUnion(
    [
      createKapisTokenAuthenticator({ verifier, keys, users: known, sessions, clockSkewSeconds }),
      createTokenReviewAuthenticator({ client, isOurs: verifier.isOurs }),
    ],
    () => undefined,
  )
  const { assertions, subjectTokens } = createWorkloadIdentity(client, config.oauth, {
    users,
    sessions,
    verifier,
  })
  const app = createOAuthApp({
    assertions,
    groupDomain,
    issuer,
    registry: clients,
    tools: {
      users,
      sessions,
      recordLogin: passwords.recordLogin,
      passwords,
      providers: {
        store: providers,
        ...createAccountLinking({
          users,
          registrar: createRegistrar({ client, groupDomain, users, logger }),
          link: createLinker({ client, groupDomain, users, logger }),
          putGroups,
          logger,
        }),
        failed: (provider, err) => logger.warn({ provider, err }, 'login with an identity provider failed'),
      },
      issuer: createTokenIssuer({ issuer, audience, keys }),
      verifier,
      internalJwts: createInternalJwts({ issuer, keys }),
      multipleLogin: () => reloads.live().authentication.multipleLogin,
      subjectTokens,
      devices,
      isPollInTime: createPollRateLimit(),
      lifetimes: { accessTokenSeconds, refreshTokenSeconds, loginMaxAgeSeconds },
    },
    productName: config.oauth.productName,
    hasher,
    hashOf,
    changePassword: createOwnPasswordWriter({ groupDomain, write: writePassword }),
    keys,
    // A client that caches the keys for this long still knows a new key before it signs.
    keysMaxAgeSeconds: Math.min(maxKeysAgeSeconds, publishAheadSeconds),
    check: { authenticate },
    isReady,
    logger,
    audit: createTokenAudit({ logger, metrics: createOAuthMetrics(metricsRegistry) }),
    metricsRegistry,
  })
  const server = await listenOnSocket(
    socket,
    tracing.listener((req, res) => app(req, res)),
    config.limits.headerKilobytes,
  )
  logger.info({ socket, issuer }, 'listening')

  const synced = Promise.all(
    [users, sessions, keys, clients, store, passwords, providers].map(part => part.start()),
  )
  const prepare = async () => {
    await keys.ensure()
    await store.requireSchema()
    await ensureFirstAdministrator({ client, groupDomain, namespace, hasher, store, logger })
    isPrepared = true
  }
  await retryUntilSuccess(prepare, { logger, signal })
  const keepUp = async () => {
    await keys.ensure()
    await mover.sweep()
    await keeper.checkAll(name => users.get(name))
    await providerKeeper.check()
    await sessions.collect()
    await devices.collect()
    await passwords.keepUp()
    await groupKeeper.sweep(signal)
  }
  const keepUpOrTryAgain = () =>
    void keepUp().catch(err => logger.warn({ err }, 'maintenance failed, retrying'))
  void synced
    .then(collectGarbage)
    .catch(err => logger.warn({ err }, 'failed to release memory after startup'))
    .then(keepUpOrTryAgain)
  const upkeep = setInterval(
    keepUpOrTryAgain,
    // Often enough that no key is late. Apart from the other replicas, which have the same to do.
    Math.min(maxUpkeepEveryMs, (publishAheadSeconds * 1_000) / 4) * (0.8 + Math.random() * 0.4),
  )

  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
  clearInterval(upkeep)
  await closeServer(server)
  for (const part of [users, sessions, keys, clients, store, passwords, providers]) part.stop()
  await tracing.stop()
  client.close()
}
