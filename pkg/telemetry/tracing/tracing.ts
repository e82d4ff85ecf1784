import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import type { TracingConfig } from '../../config/sections/tracing.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { Logger } from '../logger.ts'
import type { Registry } from '../metrics.ts'

/** An upstream server: its name, and its URL or Unix socket. */
export type Peer = { readonly name: string; readonly url?: URL; readonly socket?: string }

type Listener<More extends unknown[]> = (req: IncomingMessage, res: ServerResponse, ...more: More) => void
type ForwardRequest<E extends Exchange, More extends unknown[]> = (
  exchange: E,
  ...more: More
) => void | Promise<void>
type Authenticate<C> = (req: IncomingMessage) => C | Promise<C>

/**
 * Wrappers that a program applies to its components. Each returns a function of the same type; if
 * tracing is disabled, the same function.
 */
export type Tracing = {
  /** Starts a server span for each request. */
  readonly listener: <More extends unknown[]>(listener: Listener<More>) => Listener<More>
  /** Starts the server span after authentication, which decides about the trace. */
  readonly authenticate: <C extends { readonly identity: Identity }>(find: Authenticate<C>) => Authenticate<C>
  /** Starts a client span for each call during a request. */
  readonly client: (client: KubeClient, peer: Peer) => KubeClient
  /** Starts a client span for a proxied request, and sends its context upstream. */
  readonly upstream: <E extends Exchange, More extends unknown[]>(
    peer: Peer,
    forward: ForwardRequest<E, More>,
  ) => ForwardRequest<E, More>
  /** Exports pending spans. Gives up after a few seconds. */
  readonly stop: () => Promise<void>
}

export type TracingOptions = {
  readonly config: TracingConfig
  readonly program: string
  readonly version: string
  readonly logger: Logger
  readonly registry: Registry
  /** Callers whose sampling decision is used; 'everybody' for kapis-oauth. */
  readonly continues: 'privileged' | 'everybody'
}
