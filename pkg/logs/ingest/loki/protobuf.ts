import { type Field, readFields, WireError } from '../../../protobuf/wire.ts'
import { parseLabels } from './labels.ts'
import type { LokiEntry, LokiStream } from './message.ts'

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

function readStream(message: Buffer): LokiStream {
  let text = ''
  // The labels may follow the entries.
  for (const field of readFields(message))
    if (field.number === stream.labels) text = bytesOf(field).toString('utf8')
  // Invalid labels are kept as text, and the lines are stored.
  return { labels: parseLabels(text) ?? [['labels', text]], entries: readEntries(message) }
}

function* readEntries(message: Buffer): Generator<LokiEntry> {
  for (const field of readFields(message))
    if (field.number === stream.entries) yield readEntry(bytesOf(field))
}

function readEntry(message: Buffer): LokiEntry {
  let timeNs: bigint | undefined
  let line = ''
  for (const field of readFields(message)) {
    if (field.number === entry.time) timeNs = readTimestamp(bytesOf(field))
    else if (field.number === entry.line) line = bytesOf(field).toString('utf8')
  }
  return { timeNs, timestamp: timeNs, line, metadata: readMetadata(message) }
}

function* readMetadata(message: Buffer): Generator<readonly [string, string]> {
  for (const field of readFields(message))
    if (field.number === entry.metadata) yield readLabel(bytesOf(field))
}

function readTimestamp(message: Buffer): bigint {
  let [seconds, nanos] = [0n, 0n]
  for (const { number, value } of readFields(message)) {
    if (value === undefined) throw new WireError(`field ${number} has the wrong wire type`)
    if (number === timestamp.seconds) seconds = BigInt.asIntN(64, value)
    else if (number === timestamp.nanos) nanos = BigInt.asIntN(32, value)
  }
  return seconds * 1_000_000_000n + nanos
}

function readLabel(message: Buffer): [string, string] {
  const pair: [string, string] = ['', '']
  for (const field of readFields(message)) {
    if (field.number === label.name) pair[0] = bytesOf(field).toString('utf8')
    else if (field.number === label.value) pair[1] = bytesOf(field).toString('utf8')
  }
  return pair
}

function bytesOf({ number, bytes }: Field): Buffer {
  if (bytes === undefined) throw new WireError(`field ${number} has the wrong wire type`)
  return bytes
}
