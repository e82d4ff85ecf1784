import { isRecord } from '../../../kubeclient/object/object.ts'
import { limitParts } from '../body/limit-parts.ts'
import type { IngestLimits } from '../limits.ts'
import type { Line } from '../line/document.ts'
import { type FlatFields, flatten, formatMember, put } from '../line/flatten.ts'
import { createNotes, type LineNotes, type Notes } from '../line/line-notes.ts'
import { toRecord } from '../line/line-record.ts'
import { arrivalTime, isLineTime } from '../line/line-time.ts'
import { isOfPod } from '../line/origin.ts'
import { createSharing, limitShared, type SharedFields } from '../line/shared-fields.ts'
import { type AnyMap, type AnyValue, type OtlpGroup, type OtlpRecord, toInteger } from './message.ts'

/**
 * Yields the lines of a request. Attributes of the OpenTelemetry semantic conventions for
 * Kubernetes become the origin. Others become fields with the same names.
 */
export function* toLines(groups: Iterable<OtlpGroup>, limits: IngestLimits): Generator<Line> {
  const share = createSharing(limits)
  const flatOf = createResourceReader(limits)
  for (const { attributes, scope, records, notes } of limitParts(limits.batchLines, 'scopes', groups)) {
    const flat = flatOf(attributes, notes)
    addText(flat, 'scope.name', scope.name)
    addText(flat, 'scope.version', scope.version)
    for (const [name, value] of Object.entries(scope.attributes))
      flatten(flat, `scope.${name}`, value, notes, limits)
    const shared = share(flat, notes)
    for (const record of records) yield 'problem' in record ? record : toLine(record, shared, limits)
  }
}

/** Returns a function that reads a resource, and keeps the last result for its scopes. */
function createResourceReader(limits: IngestLimits): (attributes: AnyMap, notes: LineNotes) => FlatFields {
  let last: { readonly attributes: AnyMap; readonly flat: FlatFields; readonly notes: Notes } | undefined
  const read = (attributes: AnyMap) => {
    const flat: FlatFields = new Map()
    const notes = createNotes()
    addAll(flat, attributes, notes, limits)
    return { attributes, flat: limitShared(flat, limits, notes).flat, notes: notes.result().notes ?? [] }
  }
  return (attributes, notes) => {
    if (last?.attributes !== attributes) last = read(attributes)
    for (const note of last.notes) notes.add(note)
    // A copy, because the caller adds the scope.
    return limitShared(last.flat, limits, notes).flat
  }
}

function toLine(record: OtlpRecord, shared: SharedFields, limits: IngestLimits): Line {
  const { notes, time, observedTime } = record
  const known = [time, observedTime].find(one => one > 0n && isLineTime(one, limits))
  const flat: FlatFields = new Map()
  // An invalid time is kept as a field.
  if (time > 0n && time !== known) put(flat, 'time_unix_nano', toInteger(time))
  else if (observedTime > 0n && known === undefined)
    put(flat, 'observed_time_unix_nano', toInteger(observedTime))
  addText(flat, 'level', record.severityText || levelOf(record.severityNumber))
  if (record.severityNumber !== 0) put(flat, 'severity_number', record.severityNumber)
  addText(flat, 'trace_id', record.traceId)
  addText(flat, 'span_id', record.spanId)
  addText(flat, 'event_name', record.eventName)
  if (record.flags !== 0) put(flat, 'trace_flags', record.flags)
  if (record.droppedAttributes !== 0) put(flat, 'dropped_attributes_count', record.droppedAttributes)
  addAll(flat, record.attributes, notes, limits)
  shared.addTo(flat, notes)
  // Fluent Bit sends a record without text as a map in the body, which also has the pod.
  if (isRecord(record.body) && isRecord(record.body.kubernetes) && !isOfPod(flat))
    flatten(flat, 'kubernetes', record.body.kubernetes, notes, limits)
  const timeNs = known ?? arrivalTime(notes)
  return toRecord({ timeNs, log: toText(record.body, notes) }, flat, limits, notes)
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** Returns the name of a severity number. Each name stands for four numbers. */
function levelOf(severityNumber: number): string {
  return levels[Math.ceil(severityNumber / 4) - 1] ?? ''
}

function addAll(flat: FlatFields, attributes: AnyMap, notes: LineNotes, limits: IngestLimits): void {
  for (const [name, value] of Object.entries(attributes)) flatten(flat, name, value, notes, limits)
}

function addText(flat: FlatFields, name: string, text: string): void {
  if (text !== '') put(flat, name, text)
}

/** Returns the text of a body. A body that is not a string becomes JSON. */
function toText(value: AnyValue, notes: LineNotes): string {
  if (typeof value === 'string') return value
  return value === null ? '' : formatMember(value, notes)
}
