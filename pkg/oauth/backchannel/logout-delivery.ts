import { unavailable } from '../../apierrors/status.ts'
import type { ClientConfig } from '../../config/sections/client.ts'
import { describeFailure } from '../../http/describe-failure.ts'
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
  /** Returns the pause before the next attempt in milliseconds, after `failed` failed attempts. */
  readonly delayMs?: (failed: number) => number
  readonly limits?: Partial<typeof defaultLimits>
}

export type LogoutDelivery = {
  /** Sends a logout token to the client of an ended login, in the background. */
  readonly send: (session: Session) => void
  /** Drops pending tokens, and waits for requests in progress. */
  readonly stop: () => Promise<void>
}

type Queue = { readonly limiter: ConcurrencyLimiter; pending: number }
type Receiver = { readonly uri: string; readonly alg: ClientConfig['idTokenSigningAlg'] }

/**
 * The limits per client keep an unresponsive client from delaying or displacing the tokens of other
 * clients. A pending token takes some 3 KB.
 */
const defaultLimits = {
  maxConcurrent: 32,
  maxConcurrentPerClient: 4,
  pending: 20_000,
  pendingPerClient: 5_000,
}
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
 * 1.0) for logins with ID tokens. Delivery is best effort, as in the specification: a few attempts
 * within a minute, and none after a restart.
 */
export function createLogoutDelivery(options: LogoutDeliveryOptions): LogoutDelivery {
  const { registry, sign, post, metrics, logger, delayMs = failed => 1_000 * 4 ** (failed - 1) } = options
  const limits = { ...defaultLimits, ...options.limits }
  const stopping = new AbortController()
  const pending = new Set<Promise<void>>()
  const all = createLimiter(limits.maxConcurrent, limits.pending)
  const queues = new Map<string, Queue>()

  function inTurn(queue: Queue, work: () => Promise<void>): Promise<void> {
    // Each delivery checks the signal: adding thousands of listeners to one signal would take
    // seconds.
    const unlessStopping = async () => {
      stopping.signal.throwIfAborted()
      await work()
    }
    return queue.limiter.run(() => all.run(unlessStopping))
  }

  async function attempt({ sid, user: username, clientId }: Session, { uri, alg }: Receiver): Promise<void> {
    // Each attempt has a new token: the wait may exceed the lifetime of a token, and a client that
    // remembers the jti would reject the same token.
    const token = await sign({ username, sid, clientId }, alg)
    const status = await post(uri, token)
    if (status !== 200 && status !== 204) throw new RefusedError(status)
  }

  async function deliver(session: Session, receiver: Receiver, queue: Queue): Promise<void> {
    const { sid, clientId: client } = session
    try {
      await retry(() => inTurn(queue, () => attempt(session, receiver)), {
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
      const { sid, clientId: client } = session
      const queue = queues.get(client) ?? {
        limiter: createLimiter(limits.maxConcurrentPerClient, limits.pendingPerClient),
        pending: 0,
      }
      const isFull = pending.size >= limits.pending || queue.pending >= limits.pendingPerClient
      if (isFull || stopping.signal.aborted) {
        metrics.outcome('dropped')
        logger.warn({ client, sid, pending: queue.pending }, 'dropped a logout token')
        return
      }
      queues.set(client, queue)
      queue.pending++
      const delivery = deliver(session, receiver, queue).finally(() => {
        pending.delete(delivery)
        if (--queue.pending === 0) queues.delete(client)
      })
      pending.add(delivery)
    },
    async stop() {
      stopping.abort()
      await Promise.all(pending)
    },
  }
}

/** Returns where to send the logout token; undefined for a login without ID tokens. */
function receiverOf(
  { type, scope, clientId }: Session,
  registry: Pick<ClientRegistry, 'find'>,
): Receiver | undefined {
  if (type !== '' || !scope.split(' ').includes('openid')) return undefined
  const client = registry.find(clientId)?.client
  const uri = client?.backchannelLogoutURI
  return client === undefined || uri === undefined ? undefined : { uri, alg: client.idTokenSigningAlg }
}

/** Describes an error without the URI and the token. */
function reasonOf(error: unknown): string {
  return describeFailure(error).message
}

/** Reports whether a retry may help: redirects and client errors are final. */
function isTransient(error: unknown): boolean {
  return !(error instanceof RefusedError) || error.status >= 500 || error.status === 429
}

function createLimiter(maxConcurrent: number, maxWaiting: number): ConcurrencyLimiter {
  return createConcurrencyLimiter({
    ...{ maxConcurrent, maxWaiting },
    rejection: () => unavailable('too many logout tokens are queued'),
  })
}
