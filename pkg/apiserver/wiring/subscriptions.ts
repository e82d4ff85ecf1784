import { badRequest, toStatus } from '../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { isPlatformPrefix, type RequestInfo } from '../../apirequest/request-info.ts'
import { createLineReader } from '../../apirequest/request-line.ts'
import type { Auditor } from '../../audit/auditor.ts'
import type { AuthorizeRequest } from '../../authz/authorize-request.ts'
import { createSubscriptions, subscriptionsPlural } from '../../platformapi/subscriptions/serve.ts'
import type { WatchBroadcaster } from '../../resourcecache/watch/watch-broadcaster.ts'
import type { Router } from './router.ts'

export type SubscriptionParts = {
  readonly group: string
  readonly version: string
  /** The other resources of the group. */
  readonly platform: Handler
  readonly maxParameterLength: number
  readonly broadcaster: WatchBroadcaster
  /** What a watch goes through like any request; known once the handler chain is complete. */
  readonly chain: () => {
    readonly auditor: Auditor
    readonly authorize: AuthorizeRequest
    readonly router: Pick<Router, 'route' | 'narrows'>
  }
}

export type Subscriptions = {
  /** The handler of the resources group, subscriptions included. */
  readonly platform: Handler
  /** Whether a request opens a connection, whose watches are authorized one by one. */
  readonly judgesItself: (exchange: AuthenticatedExchange) => boolean
}

/** Adds the subscriptions of platformapi/subscriptions to the resources group. */
export function createSubscriptionRoutes(parts: SubscriptionParts): Subscriptions {
  const { group, version, platform } = parts
  const isSubscription = ({ info }: { readonly info: RequestInfo }) =>
    info.isResource &&
    isPlatformPrefix(info.prefix) &&
    info.group === group &&
    info.version === version &&
    info.resource === subscriptionsPlural &&
    info.parts.length === 1
  const serve = createSubscriptions({
    readLine: createLineReader(parts.maxParameterLength),
    broadcaster: parts.broadcaster,
    serveWatch: exchange => serveWatch(parts.chain(), exchange),
  })
  return {
    platform: exchange => (isSubscription(exchange) ? serve(exchange) : platform(exchange)),
    judgesItself: isSubscription,
  }
}

async function serveWatch(
  { auditor, authorize, router }: ReturnType<SubscriptionParts['chain']>,
  exchange: AuthenticatedExchange,
): Promise<void> {
  const { identity, impersonator, openWatch } = exchange
  const record = auditor.begin(exchange)
  record.identified(
    { ...exchange, identity: impersonator ?? identity },
    impersonator === undefined ? undefined : identity,
  )
  const watch: AuthenticatedExchange = {
    ...exchange,
    openWatch() {
      if (openWatch === undefined) throw new Error('the exchange of a subscription has no stream')
      const out = openWatch()
      out.once('close', () => record.completed(200))
      return out
    },
  }
  try {
    // Handlers of other requests would write to the response, which nobody reads.
    if (!router.narrows(watch))
      throw badRequest(
        'invalid path: expected a watch of a kind that Kapis caches, below /kapis, /kapi or /apis/resources.<group domain>',
      )
    if ((await authorize(watch)) !== 'delegated') record.allowed()
    await router.route(watch)
  } catch (error) {
    record.failed(error)
    record.completed(toStatus(error).code)
    throw error
  }
}
