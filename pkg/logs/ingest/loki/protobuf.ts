import { bytesOf, type Field, readFields, readValidFields, WireError } from '../../../protobuf/wire.ts'
import type { LokiEntry, LokiStream } from './entry.ts'
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
  const text = readLabelText(message)
  // Invalid labels become a field, so that the lines are not lost.
  return { labels: parseLabels(text) ?? [['labels', text]], entries: readEntries(message) }
}

function readLabelText(message: Buffer): string {
  let text = ''
  // A separate pass, because the labels may follow the entries.
  for (const field of readValidFields(message))
    if (field.number === stream.labels && field.bytes !== undefined) text = field.bytes.toString('utf8')
  return text
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

function* readMetadata(message: Buffer): Generator<readonly [string, string]> {
  for (const { number, bytes } of readFields(message))
    if (number === entry.metadata && bytes !== undefined) yield readLabel(bytes)
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

function readLabel(message: Buffer): [string, string] {
  const pair: [string, string] = ['', '']
  for (const { number, bytes } of readValidFields(message)) {
    if (number === label.name && bytes !== undefined) pair[0] = bytes.toString('utf8')
    else if (number === label.value && bytes !== undefined) pair[1] = bytes.toString('utf8')
  }
  return pair
}
