import { bytesOf, type Field, readFields, readValidFields, WireError } from '../../../protobuf/wire.ts'
import type { LokiEntry, LokiPair, LokiStream } from './entry.ts'
import { parseLabels } from './labels.ts'

// Field numbers of logproto.PushRequest and of google.protobuf.Timestamp.
const request = { streams: 1 }
const stream = { labels: 1, entries: 2 }
const entry = { time: 1, line: 2, metadata: 3 }
const timestamp = { seconds: 1, nanos: 2 }
const label = { name: 1, value: 2 }

/** Reads a logproto.PushRequest. @throws WireError */
export function* readPush(body: Buffer): Generator<LokiStream> {
  for (const field of readFields(body)) if (field.number === request.streams) yield readStream(bytesOf(field))
}

/** Reads a stream. An error in a stream or an entry does not affect others. */
function readStream(message: Buffer): LokiStream {
  return { labels: readLabels(message), entries: readEntries(message) }
}

function readLabels(message: Buffer): LokiStream['labels'] {
  let labels: readonly LokiPair[] = []
  // A separate pass, because the labels may follow the entries.
  for (const { number, bytes } of readValidFields(message)) {
    if (number !== stream.labels) continue
    const text = bytes?.toString('utf8')
    // Invalid labels become a field, so that the lines are not lost.
    labels = text === undefined ? [undefined] : (parseLabels(text) ?? [['labels', text]])
  }
  return labels
}

function* readEntries(message: Buffer): Generator<LokiEntry> {
  try {
    for (const field of readFields(message))
      if (field.number === stream.entries) yield orProblem('entry', () => readEntry(bytesOf(field)))
  } catch (error) {
    yield toProblem('stream', error)
  }
}

function orProblem(what: string, read: () => LokiEntry): LokiEntry {
  try {
    return read()
  } catch (error) {
    return toProblem(what, error)
  }
}

function toProblem(what: string, error: unknown): LokiEntry {
  if (!(error instanceof WireError)) throw error
  return { problem: `the ${what} cannot be read: ${error.message}` }
}

function readEntry(message: Buffer): LokiEntry {
  let timeNs: bigint | undefined
  let line = ''
  for (const field of readFields(message)) {
    if (field.number === entry.time) timeNs = readTimestamp(field)
    else if (field.number === entry.line) line = bytesOf(field).toString('utf8')
  }
  return { timeNs, timestamp: timeNs, line, metadata: readMetadata(message) }
}

function* readMetadata(message: Buffer): Generator<LokiPair> {
  for (const field of readFields(message)) if (field.number === entry.metadata) yield readLabel(field)
}

/** Returns undefined if the time is invalid: a line without a time is not rejected. */
function readTimestamp({ bytes }: Field): bigint | undefined {
  let [seconds, nanos] = [0n, 0n]
  for (const { number, value } of readValidFields(bytes ?? Buffer.of())) {
    if (value === undefined) return undefined
    if (number === timestamp.seconds) seconds = BigInt.asIntN(64, value)
    else if (number === timestamp.nanos) nanos = BigInt.asIntN(32, value)
  }
  return bytes === undefined ? undefined : seconds * 1_000_000_000n + nanos
}

function readLabel(field: Field): LokiPair {
  try {
    let [name, value] = ['', '']
    for (const part of readFields(bytesOf(field))) {
      if (part.number === label.name) name = bytesOf(part).toString('utf8')
      else if (part.number === label.value) value = bytesOf(part).toString('utf8')
    }
    return [name, value]
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    return undefined
  }
}
