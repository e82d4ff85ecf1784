import type { LogRecord } from '../../logs/record.ts'
import { formatTime } from '../../logs/rfc3339.ts'
import type { Hit } from '../../logs/store.ts'

/** A record as the platform API has it; what is not known is left out. */
export type RecordJson = {
  readonly log?: string
  readonly time?: string
  readonly namespace?: string
  readonly pod?: string
  readonly container?: string
  readonly cursor?: string
}

export function toRecordJson({ record, cursor }: Hit, withCursor: boolean): RecordJson {
  return { ...toLine(record, { withTime: true, withPod: true }), ...(withCursor ? { cursor } : {}) }
}

export function toLine(
  { log, timeNs, namespace, pod, container }: LogRecord,
  { withTime, withPod }: { withTime: boolean; withPod: boolean },
): RecordJson {
  return {
    ...(log === '' ? {} : { log }),
    ...(withTime ? { time: formatTime(timeNs) } : {}),
    ...(withPod && namespace !== '' ? { namespace } : {}),
    ...(withPod && pod !== '' ? { pod } : {}),
    ...(withPod && container !== '' ? { container } : {}),
  }
}
