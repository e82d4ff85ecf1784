import { type Fields, fieldValues, formatJson } from './field-values.ts'

/** A log line of a container. Unknown fields are ''. */
export type LogRecord = {
  /** Nanoseconds since 1970, UTC. */
  readonly timeNs: bigint
  /** The original line, including its line break if there was one. */
  readonly log: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
  /** The node the pod ran on. */
  readonly host: string
  /** The container ID of the runtime: `statistics` counts containers by it. */
  readonly dockerId: string
  readonly labels?: Readonly<Record<string, string>>
  /** Additional fields of the line. */
  readonly fields?: Fields
}

/** The properties that all lines of a container share. */
export type Origin = Omit<LogRecord, 'timeNs' | 'log' | 'fields'>

/** A field that all lines of a container share; `label` is a label of its pod. */
export type OriginField = 'namespace' | 'pod' | 'container' | 'host' | 'dockerId' | { readonly label: string }

/** The operand of an expression: the text of a line, its origin, or one of its fields. */
export type Field = 'log' | OriginField | { readonly field: string }

/** The latest supported time: 64-bit nanoseconds end in 2262. The earliest is 1970. */
export const maxTimeNs = 2n ** 63n - 1n

/** Returns the length of a record's line and fields, in characters. */
export function charsOf({ log, fields }: LogRecord): number {
  return log.length + (fields === undefined ? 0 : formatJson(fields).length)
}

/** Returns the values of a field; none if it is missing. */
export function valuesOf(record: LogRecord, field: Field): readonly string[] {
  if (field === 'log') return [record.log]
  if (!isOriginField(field)) return fieldValues(record.fields, field.field)
  const value = originOf(record, field)
  return value === undefined ? [] : [value]
}

export function isOriginField(field: Exclude<Field, 'log'>): field is OriginField {
  return typeof field === 'string' || 'label' in field
}

/** Returns an origin field; undefined only for a label that the pod does not have. */
export function originOf(origin: Origin, field: OriginField): string | undefined {
  if (typeof field === 'string') return origin[field]
  const { labels } = origin
  return labels !== undefined && Object.hasOwn(labels, field.label) ? labels[field.label] : undefined
}
