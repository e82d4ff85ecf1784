import type { Expression } from './expression.ts'

/**
 * A namespace that the caller may read, from its creation on. An earlier namespace of the same name
 * may have belonged to other users.
 */
export type PermittedNamespace = { readonly namespace: string; readonly sinceNs: bigint }

/** The lines that the caller may read: everything, or up to ten thousand namespaces. */
export type Scope = 'everything' | readonly PermittedNamespace[]

/** Hides lines before `fromDay` (UTC, since 1970) in namespaces like `name` (with `*`). */
export type NamespaceRetention = { readonly name: string; readonly fromDay: number }

export type LogFilter = {
  readonly scope: Scope
  /** Start of the time range, inclusive, in nanoseconds since 1970. */
  readonly startNs?: bigint | undefined
  /** End of the time range, inclusive. */
  readonly endNs?: bigint | undefined
  /** All other conditions, combined by allOf: the parameters of filters, log_query and q. */
  readonly expression?: Expression | undefined
  /** Retention by namespace. The first entry that matches a namespace applies. */
  readonly keep?: readonly NamespaceRetention[]
}
