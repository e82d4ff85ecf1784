import type { Exchange, Handler } from '../../apirequest/request-context.ts'
import type { ClientAddress } from '../../httpserver/request/client-address.ts'
import { createOAuthForward, type OAuthForwardOptions } from '../../proxy/oauth-proxy.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'

/** Creates a handler that forwards requests to kapis-oauth. */
export type ForwardToOAuth = (
  how: Pick<OAuthForwardOptions, 'silenceMs' | 'path' | 'errors'>,
) => Handler<Exchange>

export function createForwardToOAuth(parts: {
  readonly socket: string
  readonly tracing: Tracing
  readonly clientAddress: ClientAddress
  readonly logger: Logger
}): ForwardToOAuth {
  const { socket, tracing, clientAddress, logger } = parts
  const peer = { name: 'kapis-oauth', socket }
  return how => tracing.upstream(peer, createOAuthForward({ socket, clientAddress, logger, ...how }))
}
