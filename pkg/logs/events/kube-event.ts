import { compactJson, withFields, withoutField } from '../../json/fields.ts'
import { fieldsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'
import { parseTimestamp } from '../ingest/line/timestamp.ts'
import type { LogRecord } from '../record.ts'
import type { EventKind } from './event-kind.ts'
import { hasPart, hasValue, longestEntry, toFields } from './event-record.ts'

/** Kubernetes events (core/v1): their query parameters in the platform API. */
export const kubeEvents: EventKind = {
  namespaces: 'involved_object_namespace_filter',
  namespaceParts: 'involved_object_namespace_search',
  filters: {
    involved_object_name_filter: names => hasValue('name', names),
    involved_object_name_search: parts => hasPart('name', parts),
    involved_object_kind_filter: kinds => hasValue('kind', kinds),
    reason_filter: reasons => hasValue('reason', reasons),
    reason_search: parts => hasPart('reason', parts),
    message_search: parts => hasPart('message', parts),
    type_filter: types => hasValue('type', types),
  },
  /** Counts the objects to which events refer like containers: `dockerId` has their UID. */
  async count(store, filter, limits) {
    const { containers, logs } = await store.statistics(filter, limits)
    return { resources: containers, events: logs }
  },
}

const longestMessage = 2_000

/** Converts an event to a record, maybe without namespace. @param json as kube-apiserver sent it */
export function toKubeEventRecord(event: KubeObject, json: string): LogRecord {
  const object = fieldsOf(event.involvedObject)
  const whole = withFields(
    withoutField(compactJson(json), ['metadata', 'managedFields']),
    new Map([
      ['kind', '"Event"'],
      ['apiVersion', '"v1"'],
    ]),
  )
  const message = textOf(event.message)
  return {
    timeNs: timeOf(event),
    log: whole.length > longestEntry ? shorten(whole, message) : whole,
    namespace: textOf(object.namespace),
    pod: '',
    container: '',
    host: '',
    // The store's statistics count distinct values of this field.
    dockerId: textOf(object.uid),
    fields: toFields({
      version: versionOf(event),
      kind: textOf(object.kind),
      name: textOf(object.name),
      reason: textOf(event.reason),
      type: textOf(event.type),
      message,
    }),
  }
}

/** Returns the event without annotations and with a truncated message. */
function shorten(json: string, message: string): string {
  return withFields(
    withoutField(json, ['metadata', 'annotations']),
    new Map([['message', JSON.stringify(`${message.slice(0, longestMessage)}…`)]]),
  )
}

/** Returns the ID of an event's update, equal on all replicas. */
export function versionOf({ metadata }: KubeObject): string {
  return `${metadata.uid}/${metadata.resourceVersion}`
}

/** Returns when an event last occurred: `series` of new events, `lastTimestamp` of old ones. */
function timeOf(event: KubeObject): bigint {
  const times = [
    fieldsOf(event.series).lastObservedTime,
    event.lastTimestamp,
    event.eventTime,
    event.firstTimestamp,
    event.metadata.creationTimestamp,
  ]
  for (const time of times) {
    const read = typeof time === 'string' ? parseTimestamp(time) : undefined
    if (read !== undefined) return read
  }
  return 0n
}
