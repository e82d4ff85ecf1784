import { badRequest } from '../../../apierrors/status.ts'
import { isRecord } from '../../../kubeclient/object/object.ts'
import { type FieldScalar, isScalar } from '../../field-values.ts'
import { parseBody } from '../body/bounded-json.ts'
import { limitParts } from '../body/limit-parts.ts'
import type { IngestLimits } from '../limits.ts'
import { tooDeep } from '../line/flatten.ts'
import { createNotes, type LineNotes } from '../line/line-notes.ts'
import { parseTimestamp } from '../line/timestamp.ts'
import {
  type AnyMap,
  type AnyValue,
  maxDepth,
  type OtlpGroup,
  type OtlpRecord,
  toAnyMap,
  toInteger,
  toUnreadGroup,
  type UnreadRecord,
} from './message.ts'

type Message = Readonly<Record<string, unknown>>

/**
 * Parses an ExportLogsServiceRequest in the JSON encoding of OTLP: names in lowerCamelCase or as in
 * the .proto file (`resource_logs`), 64-bit numbers as decimal strings or numbers.
 *
 * @throws Status 400 that names the field, 413 for too many values or resources
 */
export function* readExportRequestJson(body: Buffer, limits: IngestLimits): Generator<OtlpGroup> {
  const parsed = parseBody(body, limits)
  if (!isRecord(parsed)) throw badRequest('the body must be an ExportLogsServiceRequest')
  const list = member(parsed, 'resourceLogs') ?? (Object.keys(parsed).length === 0 ? [] : undefined)
  if (!Array.isArray(list)) throw badRequest(`resourceLogs: ${notList}`)
  for (const [i, logs] of limitParts(limits.batchLines, 'resources', list.entries()))
    yield* readResourceLogs(logs, `resourceLogs[${i}]`)
}

const notObject = 'must be an object'
const notList = 'must be a list of objects'

/** Yields the groups of a resource. Invalid groups do not affect others. */
function* readResourceLogs(logs: unknown, at: string): Generator<OtlpGroup> {
  if (!isRecord(logs)) yield toUnreadGroup(`${at}: ${notObject}`)
  else {
    // The name before OTLP 0.19.
    const list = member(logs, 'scopeLogs') ?? member(logs, 'instrumentationLibraryLogs') ?? []
    if (!Array.isArray(list)) return yield toUnreadGroup(`${at}.scopeLogs: ${notList}`)
    const ofResource = createNotes()
    const attributes = toMap(toMessage(logs.resource, ofResource).attributes, 0, ofResource)
    for (const [j, group] of list.entries())
      yield readScopeLogs(group, `${at}.scopeLogs[${j}]`, attributes, ofResource)
  }
}

function readScopeLogs(group: unknown, at: string, attributes: AnyMap, ofResource: LineNotes): OtlpGroup {
  if (!isRecord(group)) return toUnreadGroup(`${at}: ${notObject}`)
  const list = member(group, 'logRecords') ?? []
  if (!Array.isArray(list)) return toUnreadGroup(`${at}.logRecords: ${notList}`)
  const notes = createNotes(ofResource.result().notes)
  const own = toMessage(group.scope ?? member(group, 'instrumentationLibrary'), notes)
  const scope = {
    name: toText(own.name, notes),
    version: toText(own.version, notes),
    attributes: toMap(own.attributes, 0, notes),
  }
  return { attributes, scope, records: toRecords(list), notes }
}

function* toRecords(members: readonly unknown[]): Generator<OtlpRecord | UnreadRecord> {
  for (const member of members) yield toRecord(member)
}

function toRecord(record: unknown): OtlpRecord | UnreadRecord {
  if (!isRecord(record)) return { problem: notObject }
  const notes = createNotes()
  return {
    time: toTime(member(record, 'timeUnixNano'), notes),
    observedTime: toTime(member(record, 'observedTimeUnixNano'), notes),
    severityNumber: toSeverity(member(record, 'severityNumber'), notes),
    severityText: toText(member(record, 'severityText'), notes),
    body: toValue(record.body, 0, notes),
    attributes: toMap(record.attributes, 0, notes),
    traceId: toText(member(record, 'traceId'), notes),
    spanId: toText(member(record, 'spanId'), notes),
    eventName: toText(member(record, 'eventName'), notes),
    flags: toNumber(member(record, 'flags'), notes),
    droppedAttributes: toNumber(member(record, 'droppedAttributesCount'), notes),
    notes,
  }
}

/** Returns a field by its name in lowerCamelCase or in the .proto file. */
function member(message: Message, name: string): unknown {
  return message[name] ?? message[name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)]
}

/** Omits a value with a note, unless it is missing. */
function omit<T>(value: unknown, notes: LineNotes, instead: T): T {
  if (value !== undefined && value !== null) notes.add('field_omitted')
  return instead
}

function toMessage(value: unknown, notes: LineNotes): Message {
  return isRecord(value) ? value : omit(value, notes, {})
}

function toText(value: unknown, notes: LineNotes): string {
  return isScalar(value) ? String(value) : omit(value, notes, '')
}

// Objects, which are invalid as keys, become ''.
function toKey(value: unknown): string {
  return typeof value === 'object' ? '' : String(value ?? '')
}

function toNumber(value: unknown, notes: LineNotes): number {
  const number = isScalar(value) ? Number(value) : Number.NaN
  return Number.isFinite(number) ? number : omit(value, notes, 0)
}

const severities = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']

/** Reads a severity number, also by its name in the .proto file (`SEVERITY_NUMBER_ERROR2`). */
function toSeverity(value: unknown, notes: LineNotes): number {
  const text = typeof value === 'string' ? value : ''
  const [, name = '', step = 1] = /^SEVERITY_NUMBER_([A-Z]+)([2-4])?$/.exec(text) ?? []
  const index = severities.indexOf(name)
  if (index >= 0) return 4 * index + Number(step)
  return text === 'SEVERITY_NUMBER_UNSPECIFIED' ? 0 : toNumber(value, notes)
}

/** An invalid time becomes 0, "unknown" in the protocol. */
function toTime(value: unknown, notes: LineNotes): bigint {
  const text = isScalar(value) ? String(value) : ''
  if (/^\d{1,20}$/.test(text)) return BigInt(text)
  return parseTimestamp(text) ?? omit(value, notes, 0n)
}

/** Converts a list of key-value pairs, or an object, which some senders write instead. */
function toMap(value: unknown, depth: number, notes: LineNotes): AnyMap {
  if (isRecord(value)) return toPlainMap(value, depth, notes)
  if (!Array.isArray(value)) return omit(value, notes, {})
  const pairs = value.filter(isRecord)
  if (pairs.length < value.length) notes.add('field_omitted')
  return toAnyMap(pairs.map(pair => [toKey(pair.key), toValue(pair.value, depth, notes)] as const))
}

function toPlainMap(value: Message, depth: number, notes: LineNotes): AnyMap {
  return toAnyMap(Object.entries(value).map(([name, inner]) => [name, toValue(inner, depth + 1, notes)]))
}

const alternatives = [
  'stringValue',
  'boolValue',
  'intValue',
  'doubleValue',
  'arrayValue',
  'kvlistValue',
  'bytesValue',
]

/** Converts an AnyValue. Other JSON is kept as it is, so that a wrong type loses no value. */
function toValue(value: unknown, depth: number, notes: LineNotes): AnyValue {
  if (depth > maxDepth) {
    notes.add('nested_too_deep')
    return tooDeep
  }
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.map(inner => toValue(inner, depth + 1, notes))
  if (!isRecord(value)) return isScalar(value) ? value : null
  const [text, bool, int, double, list, map, bytes] = alternatives.map(name => member(value, name))
  if (typeof text === 'string') return text
  if (typeof bool === 'boolean') return bool
  if (isScalar(int)) return toIntegerValue(int)
  if (typeof double === 'number' || typeof double === 'string') return toDouble(double)
  if (isRecord(list)) return toValue(list.values ?? [], depth, notes)
  if (isRecord(map)) return toMap(map.values, depth + 1, notes)
  const other = text ?? bool ?? int ?? double ?? list ?? map ?? bytes
  // An AnyValue without a value is null.
  if (Object.keys(value).length === 0) return null
  return other === undefined ? toPlainMap(value, depth, notes) : toValue(other, depth + 1, notes)
}

function toDouble(value: number | string): AnyValue {
  const double = Number(value)
  // NaN and Infinity are texts in JSON.
  return Number.isNaN(double) && value !== 'NaN' ? value : double
}

function toIntegerValue(value: FieldScalar): AnyValue {
  if (typeof value !== 'string') return value
  return /^-?\d{1,19}$/.test(value) ? toInteger(BigInt(value)) : value
}
