import {
  bytesOf,
  type Field,
  numberOf,
  readFields,
  readValidFields,
  WireError,
  writeVarint,
} from '../../../protobuf/wire.ts'
import { limitParts } from '../body/limit-parts.ts'
import type { IngestLimits } from '../limits.ts'
import { tooDeep } from '../line/flatten.ts'
import { createNotes, type LineNotes, type Notes } from '../line/line-notes.ts'
import {
  type AnyMap,
  type AnyValue,
  maxDepth,
  maxValues,
  type OtlpGroup,
  type OtlpRecord,
  toAnyMap,
  toInteger,
  toUnreadGroup,
  type UnreadRecord,
} from './message.ts'

// Field numbers of opentelemetry-proto v1: logs_service, logs, resource and common.
const request = { resourceLogs: 1 }
// The number of scopeLogs before OTLP 0.19 was 1000.
const resourceLogs = { resource: 1, scopeLogs: 2, instrumentationLibraryLogs: 1000 }
const scopeNumbers: readonly number[] = [resourceLogs.scopeLogs, resourceLogs.instrumentationLibraryLogs]
const resource = { attributes: 1 }
const scopeLogs = { scope: 1, logRecords: 2 }
const scope = { name: 1, version: 2, attributes: 3 }
const logRecord = {
  time: 1,
  severityNumber: 2,
  severityText: 3,
  body: 5,
  attributes: 6,
  droppedAttributes: 7,
  flags: 8,
  traceId: 9,
  spanId: 10,
  observedTime: 11,
  eventName: 12,
}
const numberFields: ReadonlySet<number> = new Set([
  ...[logRecord.time, logRecord.observedTime, logRecord.severityNumber],
  ...[logRecord.droppedAttributes, logRecord.flags],
])
const keyValue = { key: 1, value: 2 }
const anyValue = { string: 1, bool: 2, int: 3, double: 4, array: 5, map: 6, bytes: 7 }

/** Reads an ExportLogsServiceRequest. @throws WireError, Status 413 */
export function* readExportRequest(
  body: Buffer,
  { batchLines }: Pick<IngestLimits, 'batchLines'>,
): Generator<OtlpGroup> {
  for (const message of limitParts(batchLines, 'resources', resourcesOf(body)))
    yield* readResourceLogs(message)
}

function* resourcesOf(body: Buffer): Generator<Buffer> {
  for (const field of readFields(body)) if (field.number === request.resourceLogs) yield bytesOf(field)
}

/** Encodes an ExportLogsServiceResponse. It is empty if everything was stored unchanged. */
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
  const pairs: Pair[] = []
  // A separate pass, because the resource may follow its records.
  for (const field of readValidFields(message)) {
    if (field.number !== resourceLogs.resource) continue
    if (!ofResource.hasRoom()) break
    orOmit(ofResource, () => addAttributes(pairs, bytesOf(field), resource.attributes, ofResource))
  }
  const attributes = toAnyMap(pairs)
  try {
    for (const field of readFields(message))
      if (scopeNumbers.includes(field.number)) yield readScopeLogs(field, attributes, ofResource.notes)
  } catch (error) {
    yield toUnreadGroup(toProblem('the ResourceLogs cannot be read: ', error))
  }
}

function readScopeLogs(field: Field, attributes: AnyMap, ofResource: LineNotes): OtlpGroup {
  const { bytes } = field
  if (bytes === undefined) return toUnreadGroup('the ScopeLogs have the wrong wire type')
  const reading = createFieldExtractor(ofResource.result().notes)
  const own = { name: '', version: '', attributes: [] as Pair[] }
  for (const inner of readValidFields(bytes)) {
    if (inner.number !== scopeLogs.scope) continue
    if (!reading.hasRoom()) break
    orOmit(reading, () => readScope(own, bytesOf(inner), reading))
  }
  const scope = { ...own, attributes: toAnyMap(own.attributes) }
  return { attributes, scope, records: readRecords(bytes), notes: reading.notes }
}

function* readRecords(message: Buffer): Generator<OtlpRecord | UnreadRecord> {
  try {
    for (const field of readFields(message))
      if (field.number === scopeLogs.logRecords) yield readRecord(field)
  } catch (error) {
    yield { problem: toProblem('the ScopeLogs cannot be read: ', error) }
  }
}

/** Runs `read`. An invalid part is omitted with a note, so that the other parts are stored. */
function orOmit({ notes }: DecodeState, read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    notes.add('field_omitted')
  }
}

function toProblem(what: string, error: unknown): string {
  if (!(error instanceof WireError)) throw error
  return what + error.message
}

type Pair = readonly [string, AnyValue]

/** Limits the values of one record, scope or resource. Repeated parts count, too. */
type DecodeState = {
  readonly notes: LineNotes
  /** Counts a value. Reports whether it is within the limit. */
  readonly hasRoom: () => boolean
}

function createFieldExtractor(shared: Notes = []): DecodeState {
  const notes = createNotes(shared)
  let count = 0
  const hasRoom = () => {
    count += 1
    if (count > maxValues) notes.add('field_omitted')
    return count <= maxValues
  }
  return { notes, hasRoom }
}

function addAttributes(to: Pair[], message: Buffer, number: number, reading: DecodeState): void {
  for (const field of readFields(message)) {
    if (field.number !== number) continue
    if (!reading.hasRoom()) return
    orOmit(reading, () => to.push(readKeyValue(bytesOf(field), 0, reading)))
  }
}

type ReadScope = { name: string; version: string; readonly attributes: Pair[] }

function readScope(to: ReadScope, message: Buffer, reading: DecodeState): void {
  for (const field of readValidFields(message)) {
    if (field.number === scope.name) orOmit(reading, () => (to.name = textOf(field)))
    else if (field.number === scope.version) orOmit(reading, () => (to.version = textOf(field)))
  }
  addAttributes(to.attributes, message, scope.attributes, reading)
}

/** Reads a record. An invalid record does not affect others. */
function readRecord(field: Field): OtlpRecord | UnreadRecord {
  try {
    return readLogRecord(bytesOf(field))
  } catch (error) {
    return { problem: toProblem('', error) }
  }
}

function readLogRecord(message: Buffer): OtlpRecord {
  const reading = createFieldExtractor()
  const numbers = new Map<number, bigint>()
  let [severityText, traceId, spanId, eventName] = ['', '', '', '']
  let body: AnyValue = null
  const attributes: Pair[] = []
  addAttributes(attributes, message, logRecord.attributes, reading)
  const read = (field: Field): void => {
    if (numberFields.has(field.number)) numbers.set(field.number, numberOf(field))
    else if (field.number === logRecord.severityText) severityText = textOf(field)
    else if (field.number === logRecord.body) body = readAnyValue(bytesOf(field), 0, reading)
    else if (field.number === logRecord.traceId) traceId = bytesOf(field).toString('hex')
    else if (field.number === logRecord.spanId) spanId = bytesOf(field).toString('hex')
    else if (field.number === logRecord.eventName) eventName = textOf(field)
  }
  for (const field of readFields(message)) orOmit(reading, () => read(field))
  const number = (field: number) => numbers.get(field) ?? 0n
  return {
    ...{ time: number(logRecord.time), observedTime: number(logRecord.observedTime) },
    ...{ severityNumber: Number(number(logRecord.severityNumber)), severityText, body },
    ...{ attributes: toAnyMap(attributes), traceId, spanId, eventName, notes: reading.notes },
    flags: Number(number(logRecord.flags)),
    droppedAttributes: Number(number(logRecord.droppedAttributes)),
  }
}

function readKeyValue(message: Buffer, depth: number, reading: DecodeState): Pair {
  let key = ''
  let value: AnyValue = null
  for (const field of readFields(message)) {
    if (field.number === keyValue.key) key = textOf(field)
    else if (field.number === keyValue.value) value = readAnyValue(bytesOf(field), depth, reading)
  }
  return [key, value]
}

function readAnyValue(message: Buffer, depth: number, reading: DecodeState): AnyValue {
  if (depth > maxDepth) {
    reading.notes.add('nested_too_deep')
    return tooDeep
  }
  let value: AnyValue = null
  for (const field of readFields(message)) value = readAlternative(field, depth, reading)
  return value
}

function readAlternative(field: Field, depth: number, reading: DecodeState): AnyValue {
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
