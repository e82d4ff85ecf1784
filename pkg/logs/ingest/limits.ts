/** Limits of a request: longer lines are truncated, and a larger batch is rejected. */
export type IngestLimits = {
  /** UTF-8 bytes of `log`. */
  readonly lineBytes: number
  /**
   * Bytes (UTF-8) of the name of a namespace, pod, container or host, of a container ID, or of a
   * label value.
   */
  readonly fieldBytes: number
  readonly labels: number
  readonly labelKeyBytes: number
  /**
   * Maximum number of fields of a line, and of UTF-8 bytes of a name, of a value, and of all
   * fields.
   */
  readonly fields: number
  readonly fieldNameBytes: number
  readonly fieldValueBytes: number
  readonly fieldsBytes: number
  /** Maximum number of names and values of a line that are examined to find its fields. */
  readonly lineValues: number
  /**
   * Bytes (UTF-8) of shared data that is stored with many lines, summed over all lines of a batch.
   */
  readonly sharedBytes: number
  /** Maximum number of values in the JSON of a document, or of a batch that is one JSON text. */
  readonly jsonValues: number
  /** Bytes of a body after decompression. */
  readonly batchBytes: number
  readonly batchLines: number
  /** How far in the future the time of a line may be. */
  readonly aheadDays: number
}

export const defaultLimits: IngestLimits = {
  // Container runtimes split lines at 16 KiB; longer ones were joined on purpose.
  lineBytes: 256 * 1024,
  // Kubernetes' own limit of a name.
  fieldBytes: 253,
  // More labels than any known pod has; without a limit, a line could consist of labels.
  labels: 64,
  // Kubernetes' limit: a prefix of 253, a slash and a name of 63.
  labelKeyBytes: 317,
  fields: 128,
  fieldNameBytes: 512,
  // Stack traces are values.
  fieldValueBytes: 32 * 1024,
  fieldsBytes: 64 * 1024,
  lineValues: 4096,
  // A kilobyte for each line of a large batch.
  sharedBytes: 128 * 1024 * 1024,
  // Each takes up to 64 bytes of memory.
  jsonValues: 2_000_000,
  // Fluent Bit sends at most 2 MiB by default, Elasticsearch accepts 100 MiB.
  batchBytes: 32 * 1024 * 1024,
  batchLines: 100_000,
  // A clock that is wrong by years would stretch every histogram; VictoriaLogs has the same limit
  // (futureRetention).
  aheadDays: 2,
}
