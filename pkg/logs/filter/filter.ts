import type { Expression } from './expression.ts'

/**
 * A namespace that the caller may read, since its creation: an earlier namespace of the same name
 * may have belonged to others.
 */
export type PermittedNamespace = { readonly namespace: string; readonly sinceNs: bigint }

/** The scope of the caller. It may have ten thousand namespaces; an empty list matches nothing. */
export type Scope = 'everything' | readonly PermittedNamespace[]

/**
 * Limits the namespaces that match this pattern (`*` for any characters) to the days (UTC) from
 * this one on.
 */
export type KeptNamespace = { readonly name: string; readonly fromDay: number }

/** The selected records. */
export type LogFilter = {
  readonly scope: Scope
  /** The first moment, included. */
  readonly startNs?: bigint
  /** The last moment, included. */
  readonly endNs?: bigint
  /** The other conditions: filters, log_query and q, combined by allOf. */
  readonly expression?: Expression
  /** Retention by namespace: the first that matches decides. */
  readonly keep?: readonly KeptNamespace[]
}
