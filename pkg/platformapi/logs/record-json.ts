import { withFields } from '../../json/fields.ts'
import { type Fields, formatJson } from '../../logs/field-values.ts'
import type { LogRecord } from '../../logs/record.ts'
import { formatTime } from '../../logs/rfc3339.ts'
import type { Hit } from '../../logs/store.ts'

/** A record in the format of the platform API; unknown values are omitted. */
export type RecordJson = {
  readonly log?: string
  readonly time?: string
  readonly namespace?: string
  readonly pod?: string
  readonly container?: string
  readonly fields?: Fields
  readonly cursor?: string
}

/** Serializes a record, and preserves integers of any size. */
export function formatRecord({ fields, ...record }: RecordJson): string {
  const json = JSON.stringify(record)
  return fields === undefined ? json : withFields(json, new Map([['fields', formatJson(fields)]]))
}

export function toRecordJson({ record, cursor }: Hit, withCursor: boolean): string {
  const line = toLine(record, { withTime: true, withPod: true })
  return formatRecord({ ...line, ...(withCursor ? { cursor } : {}) })
}

export function toLine(
  { log, timeNs, namespace, pod, container, fields }: LogRecord,
  { withTime, withPod }: { withTime: boolean; withPod: boolean },
): RecordJson {
  return {
    ...(log === '' ? {} : { log }),
    ...(withTime ? { time: formatTime(timeNs) } : {}),
    ...(withPod && namespace !== '' ? { namespace } : {}),
    ...(withPod && pod !== '' ? { pod } : {}),
    ...(withPod && container !== '' ? { container } : {}),
    ...(fields === undefined ? {} : { fields }),
  }
}
