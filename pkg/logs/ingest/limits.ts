/** What one request may hold; lines over their limits are refused one by one, and a batch over its own as a whole. */
export type IngestLimits = {
  /** UTF-8 bytes of `log`. */
  readonly lineBytes: number
  /** UTF-8 bytes of the name of a namespace, pod, container or host, of a container id, of a label's key or value. */
  readonly fieldBytes: number
  readonly labels: number
  /** Bytes of a body after decompression. */
  readonly batchBytes: number
  readonly batchLines: number
  /** How far ahead the time of a line may lie. */
  readonly aheadDays: number
}

export const defaultLimits: IngestLimits = {
  // Container runtimes split lines at 16 KiB; what is this long was put together again on purpose.
  lineBytes: 256 * 1024,
  // Kubernetes' own limit of a name, and of the prefix of a label's key.
  fieldBytes: 253,
  // A pod with more labels than this is not known to exist; without a limit a line could be all labels.
  labels: 64,
  // Fluent Bit sends 2 MiB at most unless told otherwise, Elasticsearch takes 100 MiB.
  batchBytes: 32 * 1024 * 1024,
  batchLines: 100_000,
  // A clock that is wrong by years would stretch every histogram; VictoriaLogs takes as much (futureRetention).
  aheadDays: 2,
}
