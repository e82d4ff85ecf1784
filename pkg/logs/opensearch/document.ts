import { isRecord } from '../../kubeclient/object/object.ts'
import { type FieldScalar, type Fields, fieldValues, formatJson } from '../field-values.ts'
import { parseTimestamp } from '../ingest/line/timestamp.ts'
import type { LogRecord } from '../record.ts'
import { formatTime } from '../rfc3339.ts'

/**
 * Converts a record to a document in the format of Fluent Bit's Kubernetes filter. Labels and
 * fields are also stored as `key=value`, which is searched.
 */
export function toDocument(record: LogRecord): object {
  const time = formatTime(record.timeNs)
  const { namespace, pod, container, host, dockerId, labels, fields } = record
  const names = {
    namespace_name: namespace,
    pod_name: pod,
    container_name: container,
    host,
    docker_id: dockerId,
  }
  const present = Object.fromEntries(Object.entries(names).filter(([, value]) => value !== ''))
  const pairs = labels && Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  const kubernetes = { ...present, ...(labels ? { labels, label_pairs: pairs } : {}) }
  return {
    '@timestamp': time,
    time,
    log: record.log,
    ...(Object.keys(kubernetes).length > 0 ? { kubernetes } : {}),
    ...(fields === undefined
      ? {}
      : { fields: JSON.parse(JSON.stringify(fields, digitsOf)), field_pairs: pairsOf(fields) }),
  }
}

/** Bigints become text, because clients of the search engine would round numbers. */
function digitsOf(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

function pairsOf(fields: Fields): readonly string[] {
  return Object.keys(fields).flatMap(name => fieldValues(fields, name).map(value => `${name}=${value}`))
}

/** Converts a document to a record. Other programs may have stored it. */
export function toRecord(source: unknown): LogRecord {
  const document = isRecord(source) ? source : {}
  const kubernetes = isRecord(document.kubernetes) ? document.kubernetes : {}
  const labels = isRecord(kubernetes.labels) ? flatten(kubernetes.labels) : undefined
  const fields = isRecord(document.fields) ? toFields(document.fields) : undefined
  return {
    timeNs: readTime(document.time) ?? readTime(document['@timestamp']) ?? 0n,
    log: toText(document.log),
    namespace: toText(kubernetes.namespace_name),
    pod: toText(kubernetes.pod_name),
    container: toText(kubernetes.container_name),
    host: toText(kubernetes.host),
    dockerId: toText(kubernetes.docker_id),
    ...(labels === undefined ? {} : { labels }),
    ...(fields === undefined ? {} : { fields }),
  }
}

function toFields(fields: Readonly<Record<string, unknown>>): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(toScalar) : toScalar(value),
    ]),
  )
}

function toScalar(value: unknown): FieldScalar {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
    ? value
    : toWords(value)
}

/** Converts a value to text; other programs may have stored any JSON. */
function toWords(value: unknown): string {
  return typeof value === 'object' ? formatJson(value) : String(value)
}

function readTime(value: unknown): bigint | undefined {
  return value === undefined ? undefined : parseTimestamp(toWords(value))
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Flattens labels: a dot in a name may have created a nested object. */
function flatten(labels: Readonly<Record<string, unknown>>, prefix = ''): Readonly<Record<string, string>> {
  const pairs = Object.entries(labels).flatMap(([key, value]): [string, string][] => {
    if (isRecord(value)) return Object.entries(flatten(value, `${prefix}${key}.`))
    return [[prefix + key, toWords(value)]]
  })
  return Object.fromEntries(pairs)
}
