import { JsonTooDeep, parseJson } from '../../../json/parse.ts'
import { isRecord } from '../../../kube/object.ts'
import { badRequest } from '../../../status/status.ts'
import { type AnyMap, type AnyValue, type OtlpRecord, type OtlpResource, toInteger } from './message.ts'

const maxDepth = 32

/**
 * Reads an ExportLogsServiceRequest in the JSON encoding of OTLP: lowerCamelCase names, 64-bit numbers as strings of
 * decimal digits.
 *
 * @throws Status 400 that names the member
 */
export function* readExportRequestJson(body: Buffer): Generator<OtlpResource> {
  let parsed: unknown
  try {
    parsed = parseJson(body.toString('utf8'))
  } catch (error) {
    throw badRequest(error instanceof JsonTooDeep ? error.message : 'the body is not valid JSON')
  }
  if (!isRecord(parsed)) throw badRequest('the body must be an ExportLogsServiceRequest')
  for (const [i, logs] of listOf(parsed, 'resourceLogs', '').entries()) {
    const at = `resourceLogs[${i}].`
    const resource = isRecord(logs.resource) ? logs.resource : {}
    const records = listOf(logs, 'scopeLogs', at).flatMap((scope, j) =>
      listOf(scope, 'logRecords', `${at}scopeLogs[${j}].`).map(toRecord),
    )
    yield { attributes: toMap(resource.attributes, 0), records }
  }
}

function toRecord(record: Readonly<Record<string, unknown>>): OtlpRecord {
  return {
    time: toTime(record.timeUnixNano),
    observedTime: toTime(record.observedTimeUnixNano),
    body: toValue(record.body, 0),
    attributes: toMap(record.attributes, 0),
  }
}

/** Members of a list that are no objects are an error of the whole request: nobody knows what they were meant to be. */
function listOf(value: Readonly<Record<string, unknown>>, key: string, at: string) {
  const list = value[key] ?? []
  if (!Array.isArray(list) || !list.every(isRecord))
    throw badRequest(`${at}${key}: must be a list of objects`)
  return list
}

/** A time that is none is 0, "not known", as the protocol has it. */
function toTime(value: unknown): bigint {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && /^\d{1,20}$/.test(text) ? BigInt(text) : 0n
}

function toMap(value: unknown, depth: number): AnyMap {
  if (!Array.isArray(value)) return {}
  const pairs = value.filter(isRecord)
  return Object.fromEntries(pairs.map(pair => [String(pair.key ?? ''), toValue(pair.value, depth)]))
}

function toValue(value: unknown, depth: number): AnyValue {
  if (depth > maxDepth) throw badRequest(`values are nested deeper than ${maxDepth}`)
  if (!isRecord(value)) return null
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = value
  if (typeof stringValue === 'string') return stringValue
  if (typeof boolValue === 'boolean') return boolValue
  if (typeof intValue === 'number' || typeof intValue === 'string') return readInteger(intValue)
  if (typeof doubleValue === 'number' || typeof doubleValue === 'string') return Number(doubleValue)
  if (isRecord(arrayValue) && Array.isArray(arrayValue.values)) {
    return arrayValue.values.map(member => toValue(member, depth + 1))
  }
  if (isRecord(kvlistValue)) return toMap(kvlistValue.values, depth + 1)
  return typeof bytesValue === 'string' ? bytesValue : null
}

function readInteger(value: number | string): AnyValue {
  return typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? toInteger(BigInt(value)) : Number(value)
}
