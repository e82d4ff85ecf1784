/** One log line of one container. A field that is not known is the empty string. */
export type LogRecord = {
  /** Nanoseconds since 1970, UTC. */
  readonly timeNs: bigint
  /** The line as it was written, with its line break when it had one. */
  readonly log: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
  /** The node the pod ran on. */
  readonly host: string
  /** The container runtime's id: what `statistics` counts as a container. */
  readonly dockerId: string
  readonly labels?: Readonly<Record<string, string>>
  /** What else is known of this line, by name. */
  readonly fields?: Fields
}

export type Fields = Readonly<Record<string, FieldValue>>
export type FieldValue = string | readonly string[]

/** What q= and the filters can name: `log`, a field of the record, or a label of the pod. */
export type Field =
  | 'log'
  | 'namespace'
  | 'pod'
  | 'container'
  | 'host'
  | 'dockerId'
  | { readonly label: string }

/** The last moment that fits 64 bits of nanoseconds: in the year 2262. Nothing before 1970 is stored either. */
export const maxTimeNs = 2n ** 63n - 1n

/** The value of a field; undefined only for a label that the pod does not have. */
export function fieldOf(record: LogRecord, field: Field): string | undefined {
  return field === 'log' ? record.log : originOf(record, field)
}

/** The same of where it comes from. */
export function originOf(
  origin: Omit<LogRecord, 'timeNs' | 'log'>,
  field: Exclude<Field, 'log'>,
): string | undefined {
  if (typeof field === 'string') return origin[field]
  const { labels } = origin
  return labels !== undefined && Object.hasOwn(labels, field.label) ? labels[field.label] : undefined
}
