import { JsonTooDeep, parseJson } from '../../json/parse.ts'
import { isRecord } from '../../kube/object.ts'
import type { LogRecord } from '../record.ts'
import { formatTime } from '../rfc3339.ts'
import type { IngestLimits } from './limits.ts'
import { parseTimestamp } from './timestamp.ts'

/** A line, or why it is none; what is wrong with a line is no exception, since the rest of its batch is taken. */
export type Line =
  | { readonly record: LogRecord; readonly problem?: never }
  | { readonly problem: string; readonly record?: never }

// The container runtime's own time comes first; `date` is what Fluent Bit's http output calls its time.
const timeKeys = ['time', '@timestamp', 'date'] as const
const nameKeys = ['namespace', 'pod', 'container', 'host', 'dockerId'] as const

const dayMs = 86_400_000
const nsPerMs = 1_000_000

type Names = Pick<LogRecord, (typeof nameKeys)[number]>

/**
 * Reads a document as Fluent Bit's Kubernetes filter makes it: `{"time" or "@timestamp", "log", "kubernetes": {…}}`.
 * A line that comes from no pod (a journal, a kernel) has no `kubernetes`.
 *
 * @param text the JSON text of one document
 */
export function parseDocument(text: string, limits: IngestLimits): Line {
  let document: unknown
  try {
    document = parseJson(text)
  } catch (error) {
    return { problem: error instanceof JsonTooDeep ? error.message : 'not valid JSON' }
  }
  if (!isRecord(document)) return { problem: 'not a JSON object' }
  const timeNs = readTime(document, text)
  if (typeof timeNs !== 'bigint') return timeNs
  // Fluent Bit's cri parser calls it message.
  const log = typeof document.log === 'string' ? document.log : document.message
  if (typeof log !== 'string') return { problem: 'log: is missing or no string' }
  const kubernetes = document.kubernetes ?? {}
  if (!isRecord(kubernetes)) return { problem: 'kubernetes: must be an object' }
  const names: Names = {
    namespace: toText(kubernetes.namespace_name),
    pod: toText(kubernetes.pod_name),
    container: toText(kubernetes.container_name),
    host: toText(kubernetes.host),
    dockerId: toText(kubernetes.docker_id),
  }
  return checkLine({ timeNs, log, ...names, ...readLabels(kubernetes.labels) }, limits)
}

/** Holds a line to the limits, whatever protocol it came by. */
export function checkLine(record: LogRecord, limits: IngestLimits): Line {
  const length = byteLength(record.log)
  if (length > limits.lineBytes) {
    return { problem: `log: is ${length} bytes long, the limit is ${limits.lineBytes}` }
  }
  for (const key of nameKeys) {
    const value = record[key]
    if (value.length * 3 > limits.fieldBytes && byteLength(value) > limits.fieldBytes)
      return { problem: `${key}: is longer than ${limits.fieldBytes} bytes` }
  }
  return checkAhead(record, limits) ?? (record.labels && checkLabels(record.labels, limits)) ?? { record }
}

/** In numbers, whose quarter of a microsecond is close enough: this is done for each line. */
function checkAhead({ timeNs }: LogRecord, { aheadDays }: IngestLimits): Line | undefined {
  const nowMs = Date.now()
  if (Number(timeNs) <= (nowMs + aheadDays * dayMs) * nsPerMs) return undefined
  const now = formatTime(BigInt(nowMs) * BigInt(nsPerMs))
  return { problem: `time: is ${formatTime(timeNs)}, the limit is ${aheadDays} days ahead of now, ${now}` }
}

function checkLabels(labels: Readonly<Record<string, string>>, limits: IngestLimits): Line | undefined {
  const entries = Object.entries(labels)
  if (entries.length > limits.labels) {
    return { problem: `labels: there are ${entries.length}, the limit is ${limits.labels}` }
  }
  const long = entries.find(pair => pair.some(text => byteLength(text) > limits.fieldBytes))
  return long && { problem: `labels: a key or value is longer than ${limits.fieldBytes} bytes` }
}

function readTime(document: Readonly<Record<string, unknown>>, text: string): bigint | Line {
  for (const key of timeKeys) {
    const value = document[key]
    if (value === undefined) continue
    const source = typeof value === 'number' ? sourceOf(text, key) : value
    const time = typeof source === 'string' ? parseTimestamp(source) : undefined
    if (time !== undefined) return time
  }
  const key = timeKeys.find(name => document[name] !== undefined)
  if (key === undefined) return { problem: 'time: is missing; give time or @timestamp' }
  const shown = JSON.stringify(document[key]).slice(0, 64)
  return { problem: `${key}: must be RFC 3339 or a number of seconds since 1970, not ${shown}` }
}

/** A number's digits as they were sent: as a double it has lost its nanoseconds. */
function sourceOf(text: string, key: string): string | undefined {
  const sources = new Map<unknown, string | undefined>()
  const root = JSON.parse(text, function (this: unknown, name, value, context?: { source?: string }) {
    // Inner objects may have a member of this name too.
    if (name === key) sources.set(this, context?.source)
    return value
  })
  return sources.get(root)
}

function readLabels(labels: unknown): Pick<LogRecord, 'labels'> {
  if (!isRecord(labels)) return {}
  return { labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, toText(value)])) }
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

function byteLength(text: string): number {
  return Buffer.byteLength(text)
}
