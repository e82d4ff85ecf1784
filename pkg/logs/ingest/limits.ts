/** Limits of an ingest request. Longer lines are truncated; a larger batch is rejected. */
export type IngestLimits = {
  /** Maximum UTF-8 bytes of a line's text. */
  readonly lineBytes: number
  /** Maximum UTF-8 bytes of the name of an origin, a container ID, or a label value. */
  readonly fieldBytes: number
  readonly labels: number
  readonly labelKeyBytes: number
  /** Maximum number of fields of a line; below, bytes of names, values, and all fields. */
  readonly fields: number
  readonly fieldNameBytes: number
  readonly fieldValueBytes: number
  readonly fieldsBytes: number
  /** Maximum number of names and values of a line that are examined to find its fields. */
  readonly lineValues: number
  /** Maximum UTF-8 bytes of data that is stored with many lines, over a whole batch. */
  readonly sharedBytes: number
  /** Maximum number of values in the JSON of a document, or of a batch that is one JSON text. */
  readonly jsonValues: number
  /** Maximum bytes of a body after decompression. */
  readonly batchBytes: number
  readonly batchLines: number
  /** Maximum number of days by which the time of a line may be in the future. */
  readonly aheadDays: number
}

export const defaultLimits: IngestLimits = {
  // Container runtimes split lines at 16 KiB; shippers have joined longer ones on purpose.
  lineBytes: 256 * 1024,
  // The limit of names in Kubernetes.
  fieldBytes: 253,
  // More labels than any known pod has; without a limit, a line could consist of labels.
  labels: 64,
  // Kubernetes' limit: a prefix of 253, a slash and a name of 63.
  labelKeyBytes: 317,
  fields: 128,
  fieldNameBytes: 512,
  // Enough for stack traces.
  fieldValueBytes: 32 * 1024,
  fieldsBytes: 64 * 1024,
  lineValues: 4096,
  // About a kilobyte for each line of a batch of maximum size.
  sharedBytes: 128 * 1024 * 1024,
  // Each value takes up to 64 bytes of memory.
  jsonValues: 2_000_000,
  // Fluent Bit sends at most 2 MiB by default, Elasticsearch accepts 100 MiB.
  batchBytes: 32 * 1024 * 1024,
  batchLines: 100_000,
  // A clock that is wrong by years would stretch every histogram; VictoriaLogs has the same limit
  // (futureRetention).
  aheadDays: 2,
}
