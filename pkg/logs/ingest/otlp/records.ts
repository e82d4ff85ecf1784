import { isRecord } from '../../../kube/object.ts'
import type { Line } from '../document.ts'
import type { IngestLimits } from '../limits.ts'
import { arrivalTime, isLineTime } from '../line-time.ts'
import { createNotes, type LineNotes } from '../notes.ts'
import { type Flat, flatten, formatMember, isOfPod, put, putShared, toRecord } from '../origin.ts'
import { type AnyMap, type AnyValue, type OtlpGroup, type OtlpRecord, toInteger } from './message.ts'

/**
 * The lines of one scope of a resource. Where they come from is said by the attributes that OpenTelemetry's semantic conventions
 * have for Kubernetes; all else are fields, by their own names.
 */
export function* toLines(
  { attributes, scope, records, notes }: OtlpGroup,
  limits: IngestLimits,
): Generator<Line> {
  const shared: Flat = new Map()
  const ofAll = createNotes(notes)
  addAll(shared, attributes, ofAll)
  addText(shared, 'scope.name', scope.name)
  addText(shared, 'scope.version', scope.version)
  for (const [name, value] of Object.entries(scope.attributes)) flatten(shared, `scope.${name}`, value, ofAll)
  for (const record of records) yield 'problem' in record ? record : toLine(record, shared, ofAll, limits)
}

function toLine(record: OtlpRecord, shared: Flat, ofAll: LineNotes, limits: IngestLimits): Line {
  const { notes, time, observedTime } = record
  for (const note of ofAll.result().notes ?? []) notes.add(note)
  const known = [time, observedTime].find(one => one > 0n && isLineTime(one, limits))
  const flat: Flat = new Map()
  // A time that the line cannot have is kept.
  if (time > 0n && time !== known) put(flat, 'time_unix_nano', toInteger(time))
  else if (observedTime > 0n && known === undefined)
    put(flat, 'observed_time_unix_nano', toInteger(observedTime))
  addText(flat, 'level', record.severityText || levelOf(record.severityNumber))
  if (record.severityNumber > 0) put(flat, 'severity_number', record.severityNumber)
  addText(flat, 'trace_id', record.traceId)
  addText(flat, 'span_id', record.spanId)
  addText(flat, 'event_name', record.eventName)
  addAll(flat, record.attributes, notes)
  putShared(flat, shared)
  // Fluent Bit sends a record that has no text as the body, with all that it knows of the pod.
  if (isRecord(record.body) && isRecord(record.body.kubernetes) && !isOfPod(flat))
    flatten(flat, 'kubernetes', record.body.kubernetes, notes)
  const timeNs = known ?? arrivalTime(notes)
  return toRecord({ timeNs, log: toText(record.body, notes) }, flat, limits, notes)
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** The short name of a severity: four numbers have the same. */
function levelOf(severityNumber: number): string {
  return levels[Math.ceil(severityNumber / 4) - 1] ?? ''
}

function addAll(flat: Flat, attributes: AnyMap, notes: LineNotes): void {
  for (const [name, value] of Object.entries(attributes)) flatten(flat, name, value, notes)
}

function addText(flat: Flat, name: string, text: string): void {
  if (text !== '') put(flat, name, text)
}

/** A body that is no text is kept as JSON. */
function toText(value: AnyValue, notes: LineNotes): string {
  if (typeof value === 'string') return value
  return value === null ? '' : formatMember(value, notes)
}
