import { createHash, randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type FieldValue, formatJson, scalarText } from '../field-values.ts'
import type { LogRecord } from '../record.ts'
import { formatTime } from '../rfc3339.ts'

/** Values by field name. An empty value is equivalent to a missing field. */
export type Row = Map<string, string>

/** The fields of a line's origin that identify its stream, in display order. */
export const streamLabels = ['container', 'namespace', 'pod'] as const

// Reserved names, and the names that fields of a line with these names get instead.
const reserved =
  /^(?:fields\.)*(?:_msg|_time|_stream|_stream_id|namespace|pod|container|host|docker_id|labels\..*)$/s

// Keeps rows without needed fields from being empty, because pipes drop empty rows. The name is
// random, so that no query or line can use it.
const notEmpty = randomUUID()

/**
 * Converts a record to a row with the fields `_time`, `_msg`, `_stream`, `_stream_id`, its origin,
 * `labels.*`, and its own fields. An own field with a reserved name is called `fields.<name>`. A
 * list becomes JSON.
 *
 * @param selected only these fields, and a marker so that the row is not empty
 */
export function toRow(record: LogRecord, selected?: ReadonlySet<string>): Row {
  const row: Row = new Map()
  const set = (name: string, value: string) => {
    if (value !== '' && (selected === undefined || selected.has(name))) row.set(name, value)
  }
  const { namespace, pod, container, host, dockerId, labels, fields } = record
  if (selected !== undefined) row.set(notEmpty, '1')
  if (selected === undefined || selected.has('_time')) row.set('_time', formatTime(record.timeNs))
  if (selected === undefined || selected.has('_stream') || selected.has('_stream_id')) {
    const stream = streamOf(record)
    set('_stream_id', stream.id)
    set('_stream', stream.name)
  }
  set('_msg', record.log)
  set('namespace', namespace)
  set('pod', pod)
  set('container', container)
  set('host', host)
  set('docker_id', dockerId)
  for (const name in labels) set(`labels.${name}`, labels[name] ?? '')
  for (const name in fields) {
    const column = reserved.test(name) ? `fields.${name}` : name
    if (selected === undefined || selected.has(column)) set(column, textOf(fields[name] ?? ''))
  }
  return row
}

/** Reports whether a field of rows is the same for all lines of an origin. */
export function isOfOrigin(name: string): boolean {
  return /^(?:_stream|_stream_id|namespace|pod|container|host|docker_id|labels\..*)$/s.test(name)
}

function textOf(value: FieldValue): string {
  return typeof value === 'object' ? formatJson(value) : scalarText(value)
}

/** Returns the record's own field for a field of rows; undefined for others. */
export function ownField(name: string): string | undefined {
  if (!reserved.test(name)) return name
  return name.startsWith('fields.') ? name.slice('fields.'.length) : undefined
}

const streams = new LRUCache<string, { readonly name: string; readonly id: string }>({ max: 10_000 })

function streamOf({ namespace, pod, container }: LogRecord): { readonly name: string; readonly id: string } {
  const key = `${container}\0${namespace}\0${pod}`
  const known = streams.get(key)
  if (known !== undefined) return known
  const values = { container, namespace, pod }
  const labels = streamLabels.filter(label => values[label] !== '')
  const name = `{${labels.map(label => `${label}=${JSON.stringify(values[label])}`).join(',')}}`
  const id = '0'.repeat(16) + createHash('sha256').update(name).digest('hex').slice(0, 32)
  const stream = { name, id }
  streams.set(key, stream)
  return stream
}
