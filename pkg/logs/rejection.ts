/** A line that is not stored. */
export type Rejection = {
  /** In the batch. */
  readonly index: number
  readonly reason: string
  /** For metrics. */
  readonly cause?: 'time' | 'quota'
}
