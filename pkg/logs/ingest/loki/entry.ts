/** A name and its value; undefined if it is unreadable. */
export type LokiPair = readonly [name: string, value: unknown] | undefined

/** An entry of a stream (logproto.EntryAdapter), or the reason why it is invalid. */
export type LokiEntry = ReadEntry | { readonly problem: string }

export type ReadEntry = {
  readonly problem?: never
  /** Nanoseconds since 1970; undefined if invalid. */
  readonly timeNs: bigint | undefined
  /** The time as it was sent. */
  readonly timestamp: unknown
  readonly line: unknown
  readonly metadata: Iterable<LokiPair>
}

export type LokiStream = {
  readonly labels: Iterable<LokiPair>
  readonly entries: Iterable<LokiEntry>
}
