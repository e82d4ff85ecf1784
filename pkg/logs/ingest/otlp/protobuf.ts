import { type AnyMap, type AnyValue, type OtlpRecord, type OtlpResource, toInteger } from './message.ts'
import { type Field, readFields, WireError, writeVarint } from './wire.ts'

// Field numbers of opentelemetry-proto v1: logs_service, logs, resource and common.
const request = { resourceLogs: 1 }
const resourceLogs = { resource: 1, scopeLogs: 2 }
const resource = { attributes: 1 }
const scopeLogs = { logRecords: 2 }
const logRecord = { time: 1, body: 5, attributes: 6, observedTime: 11 }
const keyValue = { key: 1, value: 2 }
const anyValue = { string: 1, bool: 2, int: 3, double: 4, array: 5, map: 6, bytes: 7 }
// Deeper than anybody nests, and shallow enough for the stack.
const maxDepth = 32

/** Reads an ExportLogsServiceRequest. @throws WireError */
export function* readExportRequest(body: Buffer): Generator<OtlpResource> {
  for (const field of readFields(body)) {
    if (field.number === request.resourceLogs) yield readResourceLogs(bytesOf(field))
  }
}

/** An ExportLogsServiceResponse; empty when all was taken. */
export function writeExportResponse(rejected: number, message: string): Buffer {
  if (rejected === 0) return Buffer.alloc(0)
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

function readResourceLogs(message: Buffer): OtlpResource {
  let attributes: AnyMap = {}
  const records: OtlpRecord[] = []
  for (const field of readFields(message)) {
    if (field.number === resourceLogs.resource) {
      const pairs = [...readFields(bytesOf(field))].filter(({ number }) => number === resource.attributes)
      attributes = Object.fromEntries(pairs.map(pair => readKeyValue(bytesOf(pair), 0)))
    } else if (field.number === resourceLogs.scopeLogs) {
      for (const inner of readFields(bytesOf(field))) {
        if (inner.number === scopeLogs.logRecords) records.push(readLogRecord(bytesOf(inner)))
      }
    }
  }
  return { attributes, records }
}

function readLogRecord(message: Buffer): OtlpRecord {
  let time = 0n
  let observedTime = 0n
  let body: AnyValue = null
  const attributes: [string, AnyValue][] = []
  for (const field of readFields(message)) {
    if (field.number === logRecord.time) time = numberOf(field)
    else if (field.number === logRecord.observedTime) observedTime = numberOf(field)
    else if (field.number === logRecord.body) body = readAnyValue(bytesOf(field), 0)
    else if (field.number === logRecord.attributes) attributes.push(readKeyValue(bytesOf(field), 0))
  }
  return { time, observedTime, body, attributes: Object.fromEntries(attributes) }
}

function readKeyValue(message: Buffer, depth: number): [string, AnyValue] {
  let key = ''
  let value: AnyValue = null
  for (const field of readFields(message)) {
    if (field.number === keyValue.key) key = bytesOf(field).toString('utf8')
    else if (field.number === keyValue.value) value = readAnyValue(bytesOf(field), depth)
  }
  return [key, value]
}

function readAnyValue(message: Buffer, depth: number): AnyValue {
  if (depth > maxDepth) throw new WireError(`values are nested deeper than ${maxDepth}`)
  let value: AnyValue = null
  for (const field of readFields(message)) value = readAlternative(field, depth)
  return value
}

function readAlternative(field: Field, depth: number): AnyValue {
  const inner = () => [...readFields(bytesOf(field))].map(bytesOf)
  if (field.number === anyValue.string) return bytesOf(field).toString('utf8')
  if (field.number === anyValue.bool) return numberOf(field) !== 0n
  if (field.number === anyValue.int) return toInteger(BigInt.asIntN(64, numberOf(field)))
  if (field.number === anyValue.double) return toDouble(numberOf(field))
  if (field.number === anyValue.array) return inner().map(bytes => readAnyValue(bytes, depth + 1))
  if (field.number === anyValue.map) {
    return Object.fromEntries(inner().map(bytes => readKeyValue(bytes, depth + 1)))
  }
  return field.number === anyValue.bytes ? bytesOf(field).toString('base64') : null
}

function toDouble(bits: bigint): number {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(bits)
  return bytes.readDoubleLE()
}

function bytesOf({ number, bytes }: Field): Buffer {
  if (bytes === undefined) throw new WireError(`field ${number} has the wrong wire type`)
  return bytes
}

function numberOf({ number, value }: Field): bigint {
  if (value === undefined) throw new WireError(`field ${number} has the wrong wire type`)
  return value
}
