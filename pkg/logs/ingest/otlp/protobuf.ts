import { type Field, readFields, WireError, writeVarint } from '../../../protobuf/wire.ts'
import { createNotes, type LineNotes } from '../notes.ts'
import { tooDeep } from '../origin.ts'
import {
  type AnyValue,
  maxDepth,
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

/** An ExportLogsServiceResponse; empty when there is nothing to say. */
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
  // The resource may follow its records.
  const fields = [...readFields(message)]
  const resources = fields.filter(({ number }) => number === resourceLogs.resource)
  const ofResource = createNotes()
  const attributes = toAnyMap(
    resources.flatMap(field => readAttributes(bytesOf(field), resource.attributes, ofResource)),
  )
  for (const field of fields) {
    if (field.number !== resourceLogs.scopeLogs) continue
    let own: OtlpScope = { name: '', version: '', attributes: {} }
    const notes = createNotes(ofResource.result().notes)
    const records: (OtlpRecord | UnreadRecord)[] = []
    for (const inner of readFields(bytesOf(field))) {
      if (inner.number === scopeLogs.scope) own = readScope(bytesOf(inner), notes)
      else if (inner.number === scopeLogs.logRecords) records.push(readRecord(bytesOf(inner)))
    }
    yield { attributes, scope: own, records, notes: notes.result().notes ?? [] }
  }
}

function readAttributes(message: Buffer, number: number, notes: LineNotes): [string, AnyValue][] {
  const pairs = [...readFields(message)].filter(field => field.number === number)
  return pairs.map(pair => readKeyValue(bytesOf(pair), 0, notes))
}

function readScope(message: Buffer, notes: LineNotes): OtlpScope {
  const fields = [...readFields(message)]
  const text = (number: number) => {
    const field = fields.findLast(one => one.number === number)
    return field === undefined ? '' : textOf(field)
  }
  const attributes = toAnyMap(readAttributes(message, scope.attributes, notes))
  return { name: text(scope.name), version: text(scope.version), attributes }
}

/** One that cannot be read takes no other with it. */
function readRecord(message: Buffer): OtlpRecord | UnreadRecord {
  try {
    return readLogRecord(message)
  } catch (error) {
    if (error instanceof WireError) return { problem: error.message }
    throw error
  }
}

function readLogRecord(message: Buffer): OtlpRecord {
  const notes = createNotes()
  let [time, observedTime, severityNumber] = [0n, 0n, 0]
  let [severityText, traceId, spanId, eventName] = ['', '', '', '']
  let body: AnyValue = null
  const attributes: [string, AnyValue][] = []
  for (const field of readFields(message)) {
    if (field.number === logRecord.time) time = numberOf(field)
    else if (field.number === logRecord.observedTime) observedTime = numberOf(field)
    else if (field.number === logRecord.severityNumber) severityNumber = Number(numberOf(field))
    else if (field.number === logRecord.severityText) severityText = textOf(field)
    else if (field.number === logRecord.body) body = readAnyValue(bytesOf(field), 0, notes)
    else if (field.number === logRecord.attributes) attributes.push(readKeyValue(bytesOf(field), 0, notes))
    else if (field.number === logRecord.traceId) traceId = bytesOf(field).toString('hex')
    else if (field.number === logRecord.spanId) spanId = bytesOf(field).toString('hex')
    else if (field.number === logRecord.eventName) eventName = textOf(field)
  }
  const names = { severityNumber, severityText, traceId, spanId, eventName }
  return { time, observedTime, body, attributes: toAnyMap(attributes), ...names, notes }
}

function readKeyValue(message: Buffer, depth: number, notes: LineNotes): [string, AnyValue] {
  let key = ''
  let value: AnyValue = null
  for (const field of readFields(message)) {
    if (field.number === keyValue.key) key = textOf(field)
    else if (field.number === keyValue.value) value = readAnyValue(bytesOf(field), depth, notes)
  }
  return [key, value]
}

function readAnyValue(message: Buffer, depth: number, notes: LineNotes): AnyValue {
  if (depth > maxDepth) {
    notes.add('nested_too_deep')
    return tooDeep
  }
  let value: AnyValue = null
  for (const field of readFields(message)) value = readAlternative(field, depth, notes)
  return value
}

function readAlternative(field: Field, depth: number, notes: LineNotes): AnyValue {
  const inner = () => [...readFields(bytesOf(field))].map(bytesOf)
  if (field.number === anyValue.string) return textOf(field)
  if (field.number === anyValue.bool) return numberOf(field) !== 0n
  if (field.number === anyValue.int) return toInteger(BigInt.asIntN(64, numberOf(field)))
  if (field.number === anyValue.double) return toDouble(numberOf(field))
  if (field.number === anyValue.array) return inner().map(bytes => readAnyValue(bytes, depth + 1, notes))
  if (field.number === anyValue.map)
    return toAnyMap(inner().map(bytes => readKeyValue(bytes, depth + 1, notes)))
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
