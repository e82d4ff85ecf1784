import { isRecord } from '../../../kubeclient/object/object.ts'
import { quoteNonNumbers } from '../../field-values.ts'
import type { LogRecord } from '../../record.ts'
import { parseBounded, TooManyValues } from '../body/bounded-json.ts'
import type { IngestLimits } from '../limits.ts'
import { type Flat, flatten, formatMember } from './flatten.ts'
import { createNotes, type LineNotes, type Notes } from './line-notes.ts'
import { toRecord } from './line-record.ts'
import { arrivalTime, isLineTime } from './line-time.ts'
import { parseTimestamp } from './timestamp.ts'

/**
 * A line with the changes made to it, or the reason why it was rejected. Invalid lines do not
 * throw, because the other lines of their batch are stored.
 */
export type Line =
  | { readonly record: LogRecord; readonly notes?: Notes; readonly problem?: never }
  | { readonly problem: string; readonly record?: never; readonly notes?: never }

// Names of time fields: those of shippers, then those of applications.
const timeKeys = ['@timestamp', 'date', 'timestamp', 'time', '_time', 'ts'] as const
const textKeys = ['log', 'message', 'msg', '_msg', 'MESSAGE'] as const

// Field `log` of Filebeat and other Elastic agents.
const ecsLog = new Set(['file', 'offset', 'flags', 'source', 'level', 'logger', 'origin', 'syslog'])

type Document = Readonly<Record<string, unknown>>

/**
 * Parses a document of a log shipper: the Kubernetes filter of Fluent Bit, Filebeat, Vector, or any
 * JSON. Everything except time, text and origin becomes a field.
 *
 * @param text the JSON text of the document
 */
export function parseDocument(text: string, limits: IngestLimits): Line {
  try {
    return toLine(text, parseBounded(text, limits), limits)
  } catch (error) {
    if (error instanceof TooManyValues) return { problem: error.message }
    if (!(error instanceof SyntaxError)) throw error
    const quoted = quoteNonNumbers(text)
    return quoted === text ? { problem: 'not valid JSON' } : parseDocument(quoted, limits)
  }
}

function toLine(text: string, document: unknown, limits: IngestLimits): Line {
  if (!isRecord(document)) return { problem: 'not a JSON object' }
  const notes = createNotes()
  const time = chooseTime(document, text, limits) ?? { timeNs: arrivalTime(notes) }
  const flat: Flat = new Map()
  const log = putMembers(flat, document, text, time, notes, limits)
  return toRecord({ timeNs: time.timeNs, log }, flat, limits, notes)
}

/**
 * Adds the fields of a document to a line.
 *
 * @param time time of the line, and the field that has it
 * @returns the text of the line
 */
export function putMembers(
  flat: Flat,
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
  return textOf(document, textKey, text, notes)
}

/**
 * Returns the first text key whose value is a string. Without one, returns `log` if it has a value
 * and is not the `log` object of the Elastic Common Schema.
 */
function findTextKey(document: Document): string | undefined {
  const { log } = document
  return (
    textKeys.find(key => typeof document[key] === 'string') ??
    (log === undefined || log === null || isEcsLog(log) ? undefined : 'log')
  )
}

/** Returns whether an object has only what the Elastic Common Schema says about the log of a line. */
function isEcsLog(log: unknown): boolean {
  return isRecord(log) && Object.keys(log).length > 0 && Object.keys(log).every(key => ecsLog.has(key))
}

function textOf(document: Document, key: string | undefined, whole: string, notes: LineNotes): string {
  if (key === undefined) return whole
  const value = document[key]
  return typeof value === 'string' ? value : formatMember(value, notes)
}

type TimeKey = (typeof timeKeys)[number]

function isTimeKey(key: string): key is TimeKey {
  return timeKeys.some(name => name === key)
}

/** Reads the time in a field; undefined if it is invalid. */
function readTime(document: Document, key: TimeKey, text: string): bigint | undefined {
  const value = document[key]
  if (typeof value === 'string') return parseTimestamp(value)
  if (typeof value === 'number') return parseTimestamp(sourceOf(text, key) ?? String(value))
  return typeof value === 'bigint' ? parseTimestamp(String(value)) : undefined
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
