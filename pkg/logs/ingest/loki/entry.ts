/** An entry of a stream (logproto.EntryAdapter), or the reason why it is invalid. */
export type LokiEntry = ReadEntry | { readonly problem: string }

export type ReadEntry = {
  readonly problem?: never
  /** Nanoseconds since 1970; undefined if invalid. */
  readonly timeNs: bigint | undefined
  /** The time as it was sent. */
  readonly timestamp: unknown
  readonly line: unknown
  readonly metadata: Iterable<readonly [string, unknown]>
}

export type LokiStream = {
  /** Pairs of name and value. */
  readonly labels: Iterable<readonly [string, unknown]>
  readonly entries: Iterable<LokiEntry>
}
