import { isUtf8 } from 'node:buffer'
import { isRecord } from '../../../kubeclient/object/object.ts'
import type { LogRecord } from '../../record.ts'
import { parseBounded, TooManyValues } from '../body/bounded-json.ts'
import type { IngestLimits } from '../limits.ts'
import { type FlatFields, flatten, formatMember } from './flatten.ts'
import { createNotes, type LineNotes, type Notes } from './line-notes.ts'
import { toRecord } from './line-record.ts'
import { arrivalTime, isLineTime } from './line-time.ts'
import { findRepeatedNames } from './repeated-names.ts'
import { parseTimestamp } from './timestamp.ts'

/**
 * A line with the changes made to it, or the reason why it was rejected. Invalid lines do not
 * throw, because the other lines of their batch are stored.
 */
export type Line =
  | { readonly record: LogRecord; readonly notes?: Notes; readonly problem?: never }
  | { readonly problem: string; readonly record?: never; readonly notes?: never }

// Names of time fields: those of shippers, then those of applications. The last ones are of Serilog
// (@t), .NET, Monolog, Log4j and journald.
const timeKeys = [
  ...['@timestamp', 'date', 'timestamp', 'time', '_time', 'ts', '@t', 'Timestamp', 'datetime', 'instant'],
  ...['timeMillis', '_SOURCE_REALTIME_TIMESTAMP', '__REALTIME_TIMESTAMP'],
] as const
// The last ones are of .NET, GELF, Serilog, and the Elasticsearch exporter of OpenTelemetry (Body).
const textKeys = [
  ...['log', 'message', 'msg', '_msg', 'MESSAGE', 'Message', 'short_message', '@m', 'RenderedMessage', '@mt'],
  ...['Body', 'body'],
] as const
// Names of nested fields with the text: of this exporter in mode otel, of tracing for Rust.
const innerTextNames = ['body.text', 'fields.message']

// Field `log` of Filebeat and other Elastic agents.
const ecsLog = new Set(['file', 'offset', 'flags', 'source', 'level', 'logger', 'origin', 'syslog'])

type Document = Readonly<Record<string, unknown>>

/**
 * Parses a document of a log shipper: the Kubernetes filter of Fluent Bit, Filebeat, Vector, or any
 * JSON. Everything except time, text and origin becomes a field.
 *
 * @param json the JSON text of the document
 */
export function parseDocument(json: string, limits: IngestLimits): Line {
  try {
    const { text, value } = parseBounded(json, limits)
    return toLine(text, value, limits)
  } catch (error) {
    if (error instanceof TooManyValues) return { problem: error.message }
    if (error instanceof SyntaxError) return { problem: invalidJson }
    throw error
  }
}

const invalidJson = 'not valid JSON'

function toLine(text: string, document: unknown, limits: IngestLimits): Line {
  if (!isRecord(document)) return { problem: 'not a JSON object' }
  const notes = createNotes()
  const time = chooseTime(document, text, limits) ?? { timeNs: arrivalTime(notes) }
  const flat: FlatFields = new Map()
  const log = putMembers(flat, document, text, time, notes, limits)
  return toRecord({ timeNs: time.timeNs, log }, flat, limits, notes)
}

/** Adds the fields of a document. @param time and its field @returns the text of the line */
export function putMembers(
  flat: FlatFields,
  document: Document,
  text: string,
  time: { readonly timeNs: bigint; readonly key?: string },
  notes: LineNotes,
  limits: IngestLimits,
): string {
  const textKey = findTextKey(document)
  for (const key of Object.keys(document)) {
    if (key === textKey || key === time.key) continue
    const value = document[key]
    if (time.key !== undefined && value === document[time.key] && isTimeKey(key)) continue
    if (isTimeKey(key) && isSameTime(readTime(document, key, text), time.timeNs)) continue
    flatten(flat, key, value, notes, limits)
  }
  // Last, since the first value of a name decides the origin: agents add it after the fields of an
  // application.
  const { values, isInList } = findRepeatedNames(text, document)
  for (const [name, value] of values) flatten(flat, name, value, notes, limits)
  if (isInList) notes.add('field_omitted')
  if (textKey !== undefined) return textOf(textKey, document[textKey], notes)
  return takeInnerText(flat) ?? text
}

/**
 * Returns the first text key with a string that is not empty, otherwise one with an empty string.
 * Without one, returns `log` if it has a value and is not the `log` object of the Elastic Common
 * Schema, or `MESSAGE` with a list of bytes, as journald writes it.
 */
function findTextKey(document: Document): string | undefined {
  const { log, MESSAGE } = document
  return (
    textKeys.find(key => typeof document[key] === 'string' && document[key] !== '') ??
    textKeys.find(key => document[key] === '') ??
    (log === undefined || log === null || isEcsLog(log) ? undefined : 'log') ??
    (isBytes(MESSAGE) ? 'MESSAGE' : undefined)
  )
}

function isBytes(value: unknown): value is readonly number[] {
  const isByte = (byte: unknown) => Number.isInteger(byte) && Number(byte) >= 0 && Number(byte) <= 255
  return Array.isArray(value) && value.length > 0 && value.every(isByte)
}

/** Returns the text of a document that has it in a nested field. It is no longer a field then. */
function takeInnerText(flat: FlatFields): string | undefined {
  for (const name of innerTextNames) {
    const text = flat.get(name)
    if (typeof text !== 'string') continue
    flat.delete(name)
    return text
  }
  return undefined
}

/** Returns whether all fields are those of a log line in the Elastic Common Schema. */
function isEcsLog(log: unknown): boolean {
  return isRecord(log) && Object.keys(log).length > 0 && Object.keys(log).every(key => ecsLog.has(key))
}

function textOf(key: string, value: unknown, notes: LineNotes): string {
  if (key === 'MESSAGE' && isBytes(value)) {
    const bytes = Buffer.from(value)
    if (!isUtf8(bytes)) notes.add('invalid_unicode')
    return bytes.toString('utf8')
  }
  return typeof value === 'string' ? value : formatMember(value, notes)
}

type TimeKey = (typeof timeKeys)[number]

function isTimeKey(key: string): key is TimeKey {
  return timeKeys.some(name => name === key)
}

/** Reads the time in a field; undefined if it is invalid. */
function readTime(document: Document, key: TimeKey, text: string): bigint | undefined {
  const value = document[key]
  if (typeof value === 'string') return smallNumber.test(value) ? undefined : parseTimestamp(value)
  // Log4j and loggers for Google Cloud write an object.
  if (isRecord(value)) return readInstant(value)
  if (typeof value === 'bigint') return parseTimestamp(String(value))
  if (typeof value !== 'number' || value < minSeconds) return undefined
  return parseTimestamp(sourceOf(text, key) ?? '') ?? parseTimestamp(String(value))
}

// A number of seconds below this, a time before 1973, is a duration or a counter.
const minSeconds = 1e8
const smallNumber = /^\d{1,8}(?:\.\d*)?$/

function readInstant({ epochSecond, nanoOfSecond, seconds, nanos }: Document): bigint | undefined {
  const [whole, fraction] = [epochSecond ?? seconds, nanoOfSecond ?? nanos]
  if (!Number.isSafeInteger(whole) || !Number.isSafeInteger(fraction)) return undefined
  return BigInt(Number(whole)) * 1_000_000_000n + BigInt(Number(fraction))
}

/**
 * Returns the first valid time and its field. If a shipper truncated it, returns the time of the
 * container runtime (`time`) instead.
 */
function chooseTime(
  document: Document,
  text: string,
  limits: IngestLimits,
): { readonly key: TimeKey; readonly timeNs: bigint } | undefined {
  for (const key of timeKeys) {
    if (document[key] === undefined) continue
    const timeNs = readTime(document, key, text)
    if (!isLineTime(timeNs, limits)) continue
    if (document.time === undefined || document.time === document[key]) return { key, timeNs }
    const finer = readTime(document, 'time', text)
    return { key, timeNs: finer !== undefined && isCut(timeNs, finer) ? finer : timeNs }
  }
  return undefined
}

function isCut(time: bigint, finer: bigint): boolean {
  return [1_000_000_000n, 1_000_000n, 1_000n].some(
    unit => time % unit === 0n && finer - (finer % unit) === time,
  )
}

/** Reports whether a field only repeats the time of the line. */
function isSameTime(member: bigint | undefined, time: bigint): boolean {
  return member !== undefined && (member === time || isCut(member, time))
}

/** Returns the source text of a number: as a double it would lose nanoseconds. */
function sourceOf(text: string, key: string): string | undefined {
  const sources = new Map<unknown, string | undefined>()
  try {
    const root = JSON.parse(text, function (this: unknown, name, value, context?: { source?: string }) {
      // Inner objects may have a field of this name, too.
      if (name === key) sources.set(this, context?.source)
      return value
    })
    return sources.get(root)
  } catch (error) {
    // Another field of the document is nested too deeply for JSON.parse with a reviver.
    if (error instanceof RangeError) return undefined
    throw error
  }
}
