import { isRecord } from '../../../kube/object.ts'
import { maxTimeNs } from '../../record.ts'
import { checkAhead, formatMember, type Line } from '../document.ts'
import type { IngestLimits } from '../limits.ts'
import { type Flat, flatten, isOfPod, put, putShared, toRecord } from '../origin.ts'
import type { AnyMap, AnyValue, OtlpGroup, OtlpRecord } from './message.ts'

/**
 * The lines of one scope of a resource. Where they come from is said by the attributes that OpenTelemetry's semantic conventions
 * have for Kubernetes; all else are fields, by their own names.
 */
export function* toLines({ attributes, scope, records }: OtlpGroup, limits: IngestLimits): Generator<Line> {
  const shared: Flat = new Map()
  addAll(shared, attributes)
  addText(shared, 'scope.name', scope.name)
  addText(shared, 'scope.version', scope.version)
  for (const [name, value] of Object.entries(scope.attributes)) add(shared, `scope.${name}`, value)
  for (const record of records) yield toLine(record, shared, limits)
}

function toLine(record: OtlpRecord, shared: Flat, limits: IngestLimits): Line {
  const time = record.time > 0n ? record.time : record.observedTime
  if (time === 0n) return { problem: 'timeUnixNano: is missing, and so is observedTimeUnixNano' }
  if (time > maxTimeNs) return { problem: 'timeUnixNano: is after the year 2262' }
  const problem = checkAhead(time, limits)
  if (problem !== undefined) return { problem }
  const flat: Flat = new Map()
  addText(flat, 'level', record.severityText || levelOf(record.severityNumber))
  if (record.severityNumber > 0) put(flat, 'severity_number', record.severityNumber)
  addText(flat, 'trace_id', record.traceId)
  addText(flat, 'span_id', record.spanId)
  addText(flat, 'event_name', record.eventName)
  addAll(flat, record.attributes)
  putShared(flat, shared)
  // Fluent Bit sends a record that has no text as the body, with all that it knows of the pod.
  if (isRecord(record.body) && isRecord(record.body.kubernetes) && !isOfPod(flat))
    flatten(flat, 'kubernetes', record.body.kubernetes, formatMember)
  return toRecord({ timeNs: time, log: toText(record.body) }, flat, limits)
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** The short name of a severity: four numbers have the same. */
function levelOf(severityNumber: number): string {
  return levels[Math.ceil(severityNumber / 4) - 1] ?? ''
}

function addAll(flat: Flat, attributes: AnyMap): void {
  for (const [name, value] of Object.entries(attributes)) add(flat, name, value)
}

function add(flat: Flat, name: string, value: AnyValue): void {
  flatten(flat, name, value, formatMember)
}

function addText(flat: Flat, name: string, text: string): void {
  if (text !== '') put(flat, name, text)
}

/** A body that is no text is kept as JSON. */
function toText(value: AnyValue): string {
  if (typeof value === 'string') return value
  return value === null ? '' : formatMember(value)
}
