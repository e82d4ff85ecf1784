import type { Identity } from '../../apirequest/identity/identity.ts'
import { mayBeLongRunning, mayStream } from '../../apirequest/long-running.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { withLongRunning } from './authenticated-exchange.ts'
import { withDeadline } from './deadline.ts'
import type { MaxInFlight, RequestSeat } from './max-in-flight.ts'
import type { SessionRevocation } from './session-revocation.ts'
import type { TrackedRequest } from './slow-clients.ts'

export type ServeOptions = {
  readonly sessionRevocation: SessionRevocation
  readonly maxInFlight: MaxInFlight
  readonly isProxied: (exchange: AuthenticatedExchange) => boolean
  readonly requestSeconds: () => number
  /** Authorizes a request; `delegated` if its handler does so. @throws Status 401, 403, 503 */
  readonly authorize: (exchange: AuthenticatedExchange) => Promise<void> | 'delegated' | void
  readonly route: Handler
}

export type RequestScope = {
  readonly onFinish: (end: () => void) => void
  readonly allowed: () => void
  /** Called when the response becomes long-running. */
  readonly lasted: () => void
  readonly slowClient: TrackedRequest
  /** The authenticated caller, which may impersonate another user. */
  readonly caller: Identity
}

/** Runs max-in-flight, authorization and the handler. Starts timers only if it has to wait. */
export async function serveAuthenticated(
  options: ServeOptions,
  authenticated: AuthenticatedExchange,
  { onFinish, allowed, lasted, slowClient, caller }: RequestScope,
): Promise<void> {
  const { res } = authenticated
  const mayBeLong = mayBeLongRunning(authenticated)
  // No deadline for a log that is followed: kube-apiserver sends its headers with the first line,
  // which may take hours.
  const isUntimed = mayBeLong && options.isProxied(authenticated)
  let seat: RequestSeat | undefined
  let stopDeadline: (() => void) | undefined
  let isFollowed = false
  let isLasting = false

  function followSession(): void {
    if (isFollowed) return
    isFollowed = true
    onFinish(options.sessionRevocation.follow(authenticated, caller))
  }
  function startTimers(): void {
    if (mayBeLong || mayStream(authenticated)) followSession()
    if (isUntimed || isLasting || stopDeadline !== undefined) return
    stopDeadline = withDeadline(authenticated, options.requestSeconds())
    onFinish(stopDeadline)
  }
  function markLongRunning(): void {
    isLasting = true
    lasted()
    stopDeadline?.()
    slowClient.stop()
    seat?.longRunning()
    followSession()
  }

  const entered = options.maxInFlight.enter(authenticated, isUntimed)
  if (entered instanceof Promise) startTimers()
  seat = entered instanceof Promise ? await entered : entered
  onFinish(seat.leave)
  slowClient.seat = seat
  // The client disconnected or the deadline passed while the request was waiting for a seat.
  if (res.writableEnded || res.destroyed) return

  const exchange = withLongRunning(authenticated, markLongRunning)
  const decided = options.authorize(exchange)
  const isDecided = !(decided instanceof Promise)
  if (!isDecided) startTimers()
  if ((isDecided ? decided : await decided) !== 'delegated') allowed()
  const served = options.route(exchange)
  if (isDecided && !res.writableEnded) startTimers()
  if (served instanceof Promise) await served
}
