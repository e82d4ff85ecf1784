import { chmod, unlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config, Secrets } from '../config/config.ts'
import { ensureFirstAdministrator } from '../iam/first-administrator.ts'
import { createPasswordHasher } from '../iam/password.ts'
import { SessionStore } from '../iam/session-store.ts'
import { UserStore } from '../iam/user-store.ts'
import { createKubeClient } from '../kube/client.ts'
import { loadEndpoint } from '../kube/endpoint.ts'
import type { Logger } from '../telemetry/logger.ts'
import { createRegistry } from '../telemetry/metrics.ts'
import { createTokenIssuer } from '../token/issue.ts'
import { SecretKeySource } from '../token/key-source.ts'
import { createTokenVerifier } from '../token/verify.ts'
import { createOAuthApp } from './app.ts'
import { createOAuthMetrics } from './metrics.ts'

const upkeepEveryMs = 5 * 60_000
const retryMs = 2_000

/** Runs the token listener until `signal`. The orchestrator may come later than this program: it waits. */
export async function runOAuth(
  parts: { config: Config; secrets: Secrets; logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  const { config, secrets, logger } = parts
  const { groupDomain } = config
  const { issuer, audience, clockSkewSeconds, accessTokenSeconds, refreshTokenSeconds, socket } = config.oauth
  const { namespace } = config.kubernetes
  const client = createKubeClient(loadEndpoint(config.kubernetes.kubeconfig))
  const metricsRegistry = createRegistry()
  const hasher = await createPasswordHasher()
  const users = new UserStore({ client, groupDomain, logger })
  const sessions = new SessionStore({ client, groupDomain, logger, accessTokenSeconds })
  const keys = new SecretKeySource({ client, namespace, logger, tokenSeconds: refreshTokenSeconds })

  let isPrepared = false
  const app = createOAuthApp({
    issuer,
    registry: { clients: config.oauth.clients, secrets: secrets.clientSecrets },
    tools: {
      users,
      sessions,
      hasher,
      issuer: createTokenIssuer({ issuer, audience, keys }),
      verifier: createTokenVerifier({ issuer, audience, clockSkewSeconds, keys }),
      accessTokenSeconds,
      refreshTokenSeconds,
    },
    keys,
    isReady: () => isPrepared && users.isReady && sessions.isReady && keys.isReady,
    logger,
    metrics: createOAuthMetrics(metricsRegistry, hasher.pending),
    metricsRegistry,
  })
  const server = createServer({ keepAliveTimeout: 130_000 }, app)
  await unlink(socket).catch(() => undefined)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socket, resolve))
  // The front is in the same Pod under the same user; nobody else has business here.
  await chmod(socket, 0o660)
  logger.info({ socket, issuer }, 'listening')

  void users.start()
  void sessions.start()
  void keys.start()
  const prepare = async () => {
    await keys.ensure()
    await ensureFirstAdministrator({ client, groupDomain, namespace, hasher, logger })
    isPrepared = true
  }
  await untilDone(prepare, { logger, signal })
  const upkeep = setInterval(() => {
    Promise.all([keys.ensure(), sessions.collect()]).catch(err =>
      logger.warn({ err }, 'upkeep failed, trying again'),
    )
  }, upkeepEveryMs)

  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
  clearInterval(upkeep)
  await new Promise(resolve => {
    server.close(resolve)
    server.closeIdleConnections()
  })
  for (const part of [users, sessions, keys]) part.stop()
  client.close()
}

async function untilDone(
  work: () => Promise<void>,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    try {
      return await work()
    } catch (err) {
      logger.warn({ err }, 'not prepared yet, trying again')
      await sleep(retryMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
