import type { Expression } from './expression.ts'

/**
 * A namespace that the caller may read, since its creation: an earlier namespace of the same name
 * may have belonged to others.
 */
export type PermittedNamespace = { readonly namespace: string; readonly sinceNs: bigint }

/** What the caller may see. There may be ten thousand namespaces; an empty list permits nothing. */
export type Scope = 'everything' | readonly PermittedNamespace[]

/** Which records are meant. */
export type LogFilter = {
  readonly scope: Scope
  /** The first moment, included. */
  readonly startNs?: bigint
  /** The last moment, included. */
  readonly endNs?: bigint
  /** Everything else that was asked for: the filters, log_query and q, joined by allOf. */
  readonly expression?: Expression
}
