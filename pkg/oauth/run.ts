import { unavailable } from '../apierrors/status.ts'
import { createUnion } from '../authn/authenticator.ts'
import { createKapisTokenAuthenticator } from '../authn/kapis-token.ts'
import { createTokenReviewAuthenticator } from '../authn/token-review.ts'
import type { Config, Secrets } from '../config/config.ts'
import type { Reloads } from '../config/config-file.ts'
import { logPageClient } from '../config/sections/built-in-clients.ts'
import { readProxyEnvironment } from '../http/proxy-environment.ts'
import { createFactorService } from '../iam/factors/factor-service.ts'
import { toRelyingParty } from '../iam/factors/passkey.ts'
import { ClientStore } from '../iam/sessions/client-store.ts'
import { createDeviceStore } from '../iam/sessions/device-authorization.ts'
import { retryUntilSuccess } from '../kubeclient/retry.ts'
import { collectGarbage } from '../telemetry/collect-garbage.ts'
import type { Logger } from '../telemetry/logger.ts'
import { createLogoutDelivery } from './backchannel/logout-delivery.ts'
import { createPostLogoutToken } from './backchannel/logout-request.ts'
import { createPollRateLimit } from './device/poll-rate-limit.ts'
import { createOAuthApp } from './server/app.ts'
import { createTokenAudit } from './server/audit.ts'
import { createBackchannelMetrics, createOAuthMetrics } from './server/metrics.ts'
import { closeServer, listenOnSocket } from './server/oauth-server.ts'
import { type Accounts, createAccounts } from './wiring/accounts.ts'
import { createDependencies, type Dependencies, type StartableWatch } from './wiring/dependencies.ts'
import { createIdentityProviders } from './wiring/identity-providers.ts'
import { createSigningKeys } from './wiring/signing-keys.ts'
import { createWorkloadIdentity } from './wiring/workload-identity.ts'

const maxUpkeepEveryMs = 5 * 60_000

/** Runs kapis-oauth until `signal` aborts. kube-apiserver may start later than kapis-oauth. */
export async function runOAuth(
  parts: { config: Config; secrets: Secrets; reloads: Reloads; logger: Logger; version: string },
  signal: AbortSignal,
): Promise<void> {
  // Reports an invalid certificate at startup instead of with the first connection.
  readProxyEnvironment(process.env)
  const { config, logger } = parts
  const { issuer, socket } = config.oauth
  const dependencies = await createDependencies(parts)
  const { client, tracing } = dependencies
  const accounts = await createAccounts(dependencies, session => logouts.send(session))
  const signing = createSigningKeys(dependencies, accounts.sessions)
  const { keys } = signing
  const clients = createClients(dependencies, parts.secrets)
  const logouts = createLogoutDelivery({
    ...{ registry: clients, sign: signing.signLogoutToken, post: createPostLogoutToken() },
    ...{ metrics: createBackchannelMetrics(dependencies.metricsRegistry), logger },
  })
  const providers = createIdentityProviders(dependencies, accounts)
  const devices = createDeviceStore({ client, groupDomain: config.groupDomain })
  const watching: readonly StartableWatch[] = [...accounts.watching, keys, clients, providers.store]
  let isPrepared = false
  const isReady = () => isPrepared && watching.every(part => part.isReady)
  const app = createApp(dependencies, { accounts, signing, clients, providers, devices, isReady })
  const server = await listenOnSocket(
    socket,
    tracing.listener((req, res) => app(req, res)),
    config.limits.headerKilobytes,
  )
  logger.info({ socket, issuer }, 'listening')

  const synced = Promise.all(watching.map(part => part.start()))
  const prepare = async () => {
    await keys.ensure()
    await accounts.prepare()
    isPrepared = true
  }
  await retryUntilSuccess(prepare, { logger, signal })
  const keepUp = async () => {
    await keys.ensure()
    await accounts.reconcile()
    await providers.reconcile()
    await devices.collect()
    await accounts.collect()
    await providers.reconcileGroups(signal)
  }
  const keepUpOrTryAgain = () =>
    void keepUp().catch(err => logger.warn({ err }, 'maintenance failed, retrying'))
  void synced
    .then(collectGarbage)
    .catch(err => logger.warn({ err }, 'failed to release memory after startup'))
    .then(keepUpOrTryAgain)
  const upkeep = setInterval(
    keepUpOrTryAgain,
    // Often enough that no key is rotated late, and with jitter, so that replicas do not run it
    // simultaneously.
    Math.min(maxUpkeepEveryMs, (signing.publishAheadSeconds * 1_000) / 4) * (0.8 + Math.random() * 0.4),
  )

  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
  clearInterval(upkeep)
  await closeServer(server)
  for (const part of watching) part.stop()
  await logouts.stop()
  await tracing.stop()
  client.close()
}

function createClients({ config, client, logger }: Dependencies, { clientSecrets }: Secrets): ClientStore {
  const { issuer, clients } = config.oauth
  const configured = [...(config.logs.store === 'none' ? [] : [logPageClient(issuer)]), ...clients]
  return new ClientStore({
    client,
    groupDomain: config.groupDomain,
    namespace: config.kubernetes.namespace,
    logger,
    configured: configured.map(each => ({ client: each, secret: clientSecrets.get(each.name) })),
  })
}

/** Creates the app of the endpoints from its parts. */
function createApp(
  { config, reloads, logger, client, metricsRegistry }: Dependencies,
  parts: {
    readonly accounts: Accounts
    readonly signing: ReturnType<typeof createSigningKeys>
    readonly clients: ClientStore
    readonly providers: ReturnType<typeof createIdentityProviders>
    readonly devices: ReturnType<typeof createDeviceStore>
    readonly isReady: () => boolean
  },
) {
  const { accounts, signing, clients, providers, devices, isReady } = parts
  const { users, sessions, passwords, hasher, hashOf, changePassword, factorStore: store } = accounts
  const requiredGroups = () => reloads.live().authentication.secondFactorGroups
  const { keys, verifier, internalJwts } = signing
  const { issuer, productName, clockSkewSeconds } = config.oauth
  const party = toRelyingParty(issuer, productName)
  const factors = createFactorService({ store, passwords, hasher, requiredGroups, party })
  const { accessTokenSeconds, refreshTokenSeconds, loginMaxAgeSeconds } = config.oauth
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
    ...{ users, sessions, verifier, factors },
  })
  return createOAuthApp({
    ...{ groupDomain: config.groupDomain, issuer, productName, assertions, registry: clients },
    tools: {
      ...{
        users,
        sessions,
        passwords,
        factors,
        recordLogin: passwords.recordLogin,
        providers: providers.tools,
      },
      ...{ issuer: signing.issuer, verifier, internalJwts, subjectTokens, devices },
      multipleLogin: () => reloads.live().authentication.multipleLogin,
      isPollInTime: createPollRateLimit(),
      lifetimes: { accessTokenSeconds, refreshTokenSeconds, loginMaxAgeSeconds },
    },
    ...{ hasher, hashOf, changePassword, keys, keysMaxAgeSeconds: signing.maxAgeSeconds },
    check: { authenticate },
    ...{ isReady, logger, metricsRegistry },
    audit: createTokenAudit({ logger, metrics: createOAuthMetrics(metricsRegistry) }),
  })
}
