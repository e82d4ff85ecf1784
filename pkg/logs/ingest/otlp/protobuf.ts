import { type Field, readFields, WireError, writeVarint } from '../../../protobuf/wire.ts'
import { tooDeep } from '../flatten.ts'
import { createNotes, type LineNotes, type Notes } from '../line-changes.ts'
import {
  type AnyMap,
  type AnyValue,
  maxDepth,
  maxValues,
  type OtlpGroup,
  type OtlpRecord,
  type OtlpScope,
  toAnyMap,
  toInteger,
  type UnreadRecord,
} from './message.ts'

// Field numbers of opentelemetry-proto v1: logs_service, logs, resource and common.
const request = { resourceLogs: 1 }
const resourceLogs = { resource: 1, scopeLogs: 2 }
const resource = { attributes: 1 }
const scopeLogs = { scope: 1, logRecords: 2 }
const scope = { name: 1, version: 2, attributes: 3 }
const logRecord = {
  time: 1,
  severityNumber: 2,
  severityText: 3,
  body: 5,
  attributes: 6,
  traceId: 9,
  spanId: 10,
  observedTime: 11,
  eventName: 12,
}
const keyValue = { key: 1, value: 2 }
const anyValue = { string: 1, bool: 2, int: 3, double: 4, array: 5, map: 6, bytes: 7 }

/** Reads an ExportLogsServiceRequest. @throws WireError */
export function* readExportRequest(body: Buffer): Generator<OtlpGroup> {
  for (const field of readFields(body)) {
    if (field.number === request.resourceLogs) yield* readResourceLogs(bytesOf(field))
  }
}

/** An ExportLogsServiceResponse; empty if everything was stored. */
export function writeExportResponse(rejected: number, message: string): Buffer {
  if (rejected === 0 && message === '') return Buffer.alloc(0)
  const text = Buffer.from(message)
  const partial = Buffer.concat([
    Buffer.from([0x08]),
    writeVarint(rejected),
    Buffer.from([0x12]),
    writeVarint(text.length),
    text,
  ])
  return Buffer.concat([Buffer.from([0x0a]), writeVarint(partial.length), partial])
}

function* readResourceLogs(message: Buffer): Generator<OtlpGroup> {
  const ofResource = createFieldExtractor()
  const attributes: Pair[] = []
  // The resource may follow its records.
  for (const field of readFields(message))
    if (field.number === resourceLogs.resource)
      addAttributes(attributes, bytesOf(field), resource.attributes, ofResource)
  for (const field of readFields(message))
    if (field.number === resourceLogs.scopeLogs)
      yield readScopeLogs(bytesOf(field), toAnyMap(attributes), ofResource.notes)
}

function readScopeLogs(message: Buffer, attributes: AnyMap, ofResource: LineNotes): OtlpGroup {
  const reading = createFieldExtractor(ofResource.result().notes)
  let own: OtlpScope = { name: '', version: '', attributes: {} }
  for (const field of readFields(message))
    if (field.number === scopeLogs.scope) own = readScope(bytesOf(field), reading)
  return { attributes, scope: own, records: readRecords(message), notes: reading.notes }
}

function* readRecords(message: Buffer): Generator<OtlpRecord | UnreadRecord> {
  for (const field of readFields(message))
    if (field.number === scopeLogs.logRecords) yield readRecord(bytesOf(field))
}

type Pair = readonly [string, AnyValue]

/** Of one record, scope or resource. */
type Reading = {
  readonly notes: LineNotes
  /** Returns whether another value may be read. */
  readonly hasRoom: () => boolean
}

function createFieldExtractor(shared: Notes = []): Reading {
  const notes = createNotes(shared)
  let count = 0
  const hasRoom = () => {
    count += 1
    if (count > maxValues) notes.add('field_omitted')
    return count <= maxValues
  }
  return { notes, hasRoom }
}

function addAttributes(to: Pair[], message: Buffer, number: number, reading: Reading): void {
  for (const field of readFields(message)) {
    if (field.number !== number) continue
    if (!reading.hasRoom()) return
    to.push(readKeyValue(bytesOf(field), 0, reading))
  }
}

function readScope(message: Buffer, reading: Reading): OtlpScope {
  let [name, version] = ['', '']
  for (const field of readFields(message)) {
    if (field.number === scope.name) name = textOf(field)
    else if (field.number === scope.version) version = textOf(field)
  }
  const attributes: Pair[] = []
  addAttributes(attributes, message, scope.attributes, reading)
  return { name, version, attributes: toAnyMap(attributes) }
}

/** An invalid record does not affect others. */
function readRecord(message: Buffer): OtlpRecord | UnreadRecord {
  try {
    return readLogRecord(message)
  } catch (error) {
    if (error instanceof WireError) return { problem: error.message }
    throw error
  }
}

function readLogRecord(message: Buffer): OtlpRecord {
  const reading = createFieldExtractor()
  let [time, observedTime, severityNumber] = [0n, 0n, 0]
  let [severityText, traceId, spanId, eventName] = ['', '', '', '']
  let body: AnyValue = null
  const attributes: Pair[] = []
  addAttributes(attributes, message, logRecord.attributes, reading)
  for (const field of readFields(message)) {
    if (field.number === logRecord.time) time = numberOf(field)
    else if (field.number === logRecord.observedTime) observedTime = numberOf(field)
    else if (field.number === logRecord.severityNumber) severityNumber = Number(numberOf(field))
    else if (field.number === logRecord.severityText) severityText = textOf(field)
    else if (field.number === logRecord.body) body = readAnyValue(bytesOf(field), 0, reading)
    else if (field.number === logRecord.traceId) traceId = bytesOf(field).toString('hex')
    else if (field.number === logRecord.spanId) spanId = bytesOf(field).toString('hex')
    else if (field.number === logRecord.eventName) eventName = textOf(field)
  }
  const names = { severityNumber, severityText, traceId, spanId, eventName }
  return { time, observedTime, body, attributes: toAnyMap(attributes), ...names, notes: reading.notes }
}

function readKeyValue(message: Buffer, depth: number, reading: Reading): Pair {
  let key = ''
  let value: AnyValue = null
  for (const field of readFields(message)) {
    if (field.number === keyValue.key) key = textOf(field)
    else if (field.number === keyValue.value) value = readAnyValue(bytesOf(field), depth, reading)
  }
  return [key, value]
}

function readAnyValue(message: Buffer, depth: number, reading: Reading): AnyValue {
  if (depth > maxDepth) {
    reading.notes.add('nested_too_deep')
    return tooDeep
  }
  let value: AnyValue = null
  for (const field of readFields(message)) value = readAlternative(field, depth, reading)
  return value
}

function readAlternative(field: Field, depth: number, reading: Reading): AnyValue {
  if (field.number === anyValue.string) return textOf(field)
  if (field.number === anyValue.bool) return numberOf(field) !== 0n
  if (field.number === anyValue.int) return toInteger(BigInt.asIntN(64, numberOf(field)))
  if (field.number === anyValue.double) return toDouble(numberOf(field))
  if (field.number === anyValue.array) {
    const list: AnyValue[] = []
    for (const inner of readFields(bytesOf(field))) {
      if (!reading.hasRoom()) break
      list.push(readAnyValue(bytesOf(inner), depth + 1, reading))
    }
    return list
  }
  if (field.number === anyValue.map) {
    const pairs: Pair[] = []
    for (const inner of readFields(bytesOf(field))) {
      if (!reading.hasRoom()) break
      pairs.push(readKeyValue(bytesOf(inner), depth + 1, reading))
    }
    return toAnyMap(pairs)
  }
  return field.number === anyValue.bytes ? bytesOf(field).toString('base64') : null
}

function toDouble(bits: bigint): number {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(bits)
  return bytes.readDoubleLE()
}

function textOf(field: Field): string {
  return bytesOf(field).toString('utf8')
}

function bytesOf({ number, bytes }: Field): Buffer {
  if (bytes === undefined) throw new WireError(`field ${number} has the wrong wire type`)
  return bytes
}

function numberOf({ number, value }: Field): bigint {
  if (value === undefined) throw new WireError(`field ${number} has the wrong wire type`)
  return value
}
