/** A line that is not stored. */
export type Rejection = {
  /** Index of the line in the batch. */
  readonly index: number
  readonly reason: string
  /** Set if the store's limits are the reason. Counted in metrics. */
  readonly cause?: 'time' | 'quota'
}
