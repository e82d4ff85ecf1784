import { compactJson, withMembers, withoutMember } from '../../json/members.ts'
import { type KubeObject, membersOf, textOf } from '../../kube/object.ts'
import { badRequest } from '../../status/status.ts'
import { isOneOf } from '../expression.ts'
import { parseTimestamp } from '../ingest/timestamp.ts'
import type { LogRecord } from '../record.ts'
import { hasPart, hasValue, longestEntry, toEntry } from './entry.ts'
import type { EventKind } from './kind.ts'

/** Events of the orchestrator (core/v1), as the platform API asks for them. */
export const kubeEvents: EventKind = {
  namespaces: 'involved_object_namespace_filter',
  namespaceParts: 'involved_object_namespace_search',
  filters: {
    involved_object_name_filter: names => hasValue('name', names),
    involved_object_name_search: parts => hasPart('name', parts),
    involved_object_kind_filter: kinds => isOneOf('container', kinds),
    reason_filter: reasons => hasValue('reason', reasons),
    reason_search: parts => hasPart('reason', parts),
    message_search: parts => hasPart('message', parts.map(checkPart)),
    type_filter: types => hasValue('type', types),
  },
  /** The objects that they are about, which the store counts as it counts containers. */
  async count(store, filter, limits) {
    const { containers, logs } = await store.statistics(filter, limits)
    return { resources: containers, events: logs }
  },
}

// What an event says in words may be long; so much of it is always found.
const longestMessage = 2_000
const longestPart = 200

/**
 * The record of an event. One whose object has no namespace has none either.
 *
 * @param json the event as it was received
 */
export function toKubeEventRecord(event: KubeObject, json: string): LogRecord {
  const object = membersOf(event.involvedObject)
  const whole = withMembers(
    withoutMember(compactJson(json), ['metadata', 'managedFields']),
    new Map([
      ['kind', '"Event"'],
      ['apiVersion', '"v1"'],
    ]),
  )
  const message = textOf(event.message)
  const heading = [
    ['version', versionOf(event)],
    ['name', textOf(object.name)],
    ['reason', textOf(event.reason)],
    ['type', textOf(event.type)],
    ...cut(message.slice(0, longestMessage)).map(part => ['message', part] as const),
  ] as const
  const log = toEntry(heading, whole)
  const shorter = () =>
    withMembers(
      withoutMember(whole, ['metadata', 'annotations']),
      new Map([['message', JSON.stringify(`${message.slice(0, longestMessage)}…`)]]),
    )
  return {
    timeNs: timeOf(event),
    log: log.length > longestEntry ? toEntry(heading, shorter()) : log,
    namespace: textOf(object.namespace),
    pod: '',
    container: textOf(object.kind),
    host: '',
    dockerId: textOf(object.uid),
  }
}

/** Which writing of which event it is: the same for every replica that sees it. */
export function versionOf({ metadata }: KubeObject): string {
  return `${metadata.uid}/${metadata.resourceVersion}`
}

/** When it last happened: the series of newer events, the field of older ones. */
function timeOf(event: KubeObject): bigint {
  const times = [
    membersOf(event.series).lastObservedTime,
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

/** A value of a heading is short: a longer text is several, which overlap so that what is at an end is found too. */
function cut(text: string): readonly string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length; at += 1_000 - longestPart) parts.push(text.slice(at, at + 1_000))
  return parts
}

function checkPart(part: string): string {
  if (part.length <= longestPart) return part
  throw badRequest(`message_search must be up to ${longestPart} characters of a message`)
}
