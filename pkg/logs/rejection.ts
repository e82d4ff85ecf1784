/** A line that is not stored. */
export type Rejection = {
  /** Index of the line in the batch. */
  readonly index: number
  readonly reason: string
  /** Set if a limit of the store is the reason; for metrics. */
  readonly cause?: 'time' | 'quota'
}
