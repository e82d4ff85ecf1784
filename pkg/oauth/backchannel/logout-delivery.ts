import { unavailable } from '../../apierrors/status.ts'
import type { ClientConfig } from '../../config/sections/client.ts'
import { describeFailure } from '../../http/failure.ts'
import type { Session } from '../../iam/sessions/session.ts'
import type { LogoutTokenSigner } from '../../jwt/logout-token.ts'
import { retry } from '../../kubeclient/retry.ts'
import { type ConcurrencyLimiter, createConcurrencyLimiter } from '../../scheduling/concurrency-limiter.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { ClientRegistry } from '../client.ts'
import type { BackchannelMetrics } from '../server/metrics.ts'
import type { PostLogoutToken } from './logout-request.ts'

export type LogoutDeliveryOptions = {
  readonly registry: Pick<ClientRegistry, 'find'>
  readonly sign: LogoutTokenSigner
  readonly post: PostLogoutToken
  readonly metrics: BackchannelMetrics
  readonly logger: Logger
  /** How long to wait before the next attempt, after this many have failed. */
  readonly delayMs?: (failed: number) => number
  readonly limits?: Partial<typeof defaultLimits>
}

export type LogoutDelivery = {
  /** Tells the client of a login that it has ended. Returns at once and never throws. */
  readonly send: (session: Session) => void
  /** Gives up what waits, and waits for the requests in progress. */
  readonly stop: () => Promise<void>
}

type Receiver = { readonly uri: string; readonly alg: ClientConfig['idTokenSigningAlg'] }

/** A client that does not respond has its own limit, so it delays no other client for long. */
const defaultLimits = { atOnce: 32, atOncePerClient: 4, pending: 10_000 }
const attempts = 4

/** A response that is neither 200 nor 204. */
class RefusedError extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the client responded with ${status}`)
    this.status = status
  }
}

/**
 * Sends logout tokens to clients with a `backchannelLogoutURI` (OpenID Connect Back-Channel Logout
 * 1.0) for logins with ID tokens. Best effort, as the specification has it: a few attempts within
 * a minute, none after a restart.
 */
export function createLogoutDelivery(options: LogoutDeliveryOptions): LogoutDelivery {
  const { registry, sign, post, metrics, logger, delayMs = failed => 1_000 * 4 ** (failed - 1) } = options
  const limits = { ...defaultLimits, ...options.limits }
  const stopping = new AbortController()
  const pending = new Set<Promise<void>>()
  const all = createLimiter(limits.atOnce, limits.pending)
  const byClient = new Map<string, ConcurrencyLimiter>()

  async function inTurn(clientId: string, work: () => Promise<void>): Promise<void> {
    const own = byClient.get(clientId) ?? createLimiter(limits.atOncePerClient, limits.pending)
    byClient.set(clientId, own)
    const { signal } = stopping
    try {
      await own.run(() => all.run(work, signal), signal)
    } finally {
      if (own.pending() === 0) byClient.delete(clientId)
    }
  }

  async function attempt({ sid, user: username, clientId }: Session, { uri, alg }: Receiver): Promise<void> {
    // Each attempt has a new token: the wait may be longer than its life, and a client that
    // remembers the jti would refuse the same one.
    const token = await sign({ username, sid, clientId }, alg)
    const status = await post(uri, token)
    if (status !== 200 && status !== 204) throw new RefusedError(status)
  }

  async function deliver(session: Session, receiver: Receiver): Promise<void> {
    const { sid, clientId: client } = session
    try {
      await retry(() => inTurn(client, () => attempt(session, receiver)), {
        ...{ attempts, delayMs, signal: stopping.signal },
        isRetriable: error => !stopping.signal.aborted && isTransient(error),
        onRetry: error =>
          logger.warn({ client, sid, reason: reasonOf(error) }, 'failed to deliver a logout token, retrying'),
      })
      metrics.outcome('delivered')
    } catch (error) {
      metrics.outcome(error instanceof RefusedError ? 'refused' : 'failed')
      logger.warn({ client, sid, reason: reasonOf(error) }, 'failed to deliver a logout token')
    }
  }

  return {
    send(session) {
      const receiver = receiverOf(session, registry)
      if (receiver === undefined) return
      if (pending.size >= limits.pending || stopping.signal.aborted) {
        metrics.outcome('dropped')
        const { sid, clientId: client } = session
        logger.warn({ client, sid, pending: pending.size }, 'dropped a logout token')
        return
      }
      const delivery = deliver(session, receiver).finally(() => pending.delete(delivery))
      pending.add(delivery)
    },
    async stop() {
      stopping.abort()
      await Promise.all(pending)
    },
  }
}

/** Only a login with ID tokens has a client that knows its sid. */
function receiverOf(
  { type, scope, clientId }: Session,
  registry: Pick<ClientRegistry, 'find'>,
): Receiver | undefined {
  if (type !== '' || !scope.split(' ').includes('openid')) return undefined
  const client = registry.find(clientId)?.client
  const uri = client?.backchannelLogoutURI
  return client === undefined || uri === undefined ? undefined : { uri, alg: client.idTokenSigningAlg }
}

/** Without the URI and the token. */
function reasonOf(error: unknown): string {
  return describeFailure(error).message
}

/** A redirect or a client error is the client's last word. */
function isTransient(error: unknown): boolean {
  return !(error instanceof RefusedError) || error.status >= 500 || error.status === 429
}

function createLimiter(atOnce: number, maxWaiting: number): ConcurrencyLimiter {
  return createConcurrencyLimiter({
    ...{ atOnce, maxWaiting },
    refuse: () => unavailable('too many logout tokens are waiting'),
  })
}
