import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import type { TracingConfig } from '../../config/sections/tracing.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { Logger } from '../logger.ts'
import type { Registry } from '../metrics.ts'

/** An upstream server: its name and address. */
export type Peer = { readonly name: string; readonly url?: URL; readonly socket?: string }

type Listener<More extends unknown[]> = (req: IncomingMessage, res: ServerResponse, ...more: More) => void
type Forward<E extends Exchange, More extends unknown[]> = (
  exchange: E,
  ...more: More
) => void | Promise<void>
type Authenticate<C> = (req: IncomingMessage) => C | Promise<C>

/**
 * Wrappers that a program applies to its parts for tracing. Each takes a function and returns one
 * of the same type; without tracing it returns the same function, at no cost.
 */
export type Tracing = {
  /** A span for each request. */
  readonly listener: <More extends unknown[]>(listener: Listener<More>) => Listener<More>
  /** Called after authentication: whether the trace of the caller is continued. */
  readonly authenticate: <C extends { readonly identity: Identity }>(find: Authenticate<C>) => Authenticate<C>
  /** A span for each call that a request brings about. */
  readonly client: (client: KubeClient, peer: Peer) => KubeClient
  /** A span for each proxied request, whose context is sent to the upstream server. */
  readonly upstream: <E extends Exchange, More extends unknown[]>(
    peer: Peer,
    forward: Forward<E, More>,
  ) => Forward<E, More>
  /** Exports remaining spans, for a few seconds at most. */
  readonly stop: () => Promise<void>
}

export type TracingOptions = {
  readonly config: TracingConfig
  readonly program: string
  readonly version: string
  readonly logger: Logger
  readonly registry: Registry
  /**
   * Whose sampling decision is used: that of privileged callers, or of all callers where only
   * kapis-apiserver can connect.
   */
  readonly continues: 'privileged' | 'everybody'
}
