import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Identity } from '../../apirequest/identity.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import type { TracingConfig } from '../../config/sections/tracing.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { Logger } from '../logger.ts'
import type { Registry } from '../metrics.ts'

/** A server that a call goes on to: its name for people, and where it is. */
export type Peer = { readonly name: string; readonly url?: URL; readonly socket?: string }

type Listener<More extends unknown[]> = (req: IncomingMessage, res: ServerResponse, ...more: More) => void
type Forward<E extends Exchange, More extends unknown[]> = (
  exchange: E,
  ...more: More
) => void | Promise<void>
type Authenticate<C> = (req: IncomingMessage) => C | Promise<C>

/**
 * What a program lays around its parts so that they are traced. Each takes a function and gives one of the same kind: where
 * nothing is traced the same function, so that a request pays nothing for what is off.
 */
export type Tracing = {
  /** A span for each request. */
  readonly listener: <More extends unknown[]>(listener: Listener<More>) => Listener<More>
  /** Learns who calls: whether the caller's own trace is continued. */
  readonly authenticate: <C extends { readonly identity: Identity }>(find: Authenticate<C>) => Authenticate<C>
  /** A span for each call that a request brings about. */
  readonly client: (client: KubeClient, peer: Peer) => KubeClient
  /** A span for each request that is handed on, which the peer is told of. */
  readonly upstream: <E extends Exchange, More extends unknown[]>(
    peer: Peer,
    forward: Forward<E, More>,
  ) => Forward<E, More>
  /** Sends what is left, for a few seconds at most. */
  readonly stop: () => Promise<void>
}

export type TracingOptions = {
  readonly config: TracingConfig
  readonly program: string
  readonly version: string
  readonly logger: Logger
  readonly registry: Registry
  /** Whose trace is continued: of those who may have their way, or of everybody where only kapis-apiserver can come. */
  readonly continues: 'privileged' | 'everybody'
}
