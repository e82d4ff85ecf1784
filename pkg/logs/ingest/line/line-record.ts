import type { Fields, FieldValue } from '../../field-values.ts'
import type { LogRecord } from '../../record.ts'
import type { IngestLimits } from '../limits.ts'
import { bytesOf, shortenValue } from './field-value.ts'
import { type FlatFields, firstOf, takeOut } from './flatten.ts'
import { type LineNotes, type Notes, shorten } from './line-notes.ts'
import { takeOrigin } from './origin.ts'
import { labelPrefixes } from './origin-names.ts'

/**
 * Creates the record of a line: extracts the origin from its data, and keeps other data as fields.
 * Parts beyond a limit are truncated or dropped, with a note.
 *
 * @param flat data of the line; is modified
 */
export function toRecord(
  { timeNs, log }: Pick<LogRecord, 'timeNs' | 'log'>,
  flat: FlatFields,
  limits: IngestLimits,
  notes: LineNotes,
): { readonly record: LogRecord; readonly notes?: Notes } {
  const { namespace, pod, container, host, dockerId } = takeOrigin(flat)
  const name = (value: string) => shorten(value, limits.fieldBytes, noteOrigin)
  const noteOrigin = () => notes.add('origin_shortened')
  const labels = takeLabels(flat, limits, notes.add)
  const fields = toFields(flat, limits, notes.add)
  return {
    record: {
      timeNs,
      log: shorten(log, limits.lineBytes, () => notes.add('line_shortened')),
      namespace: name(namespace),
      pod: name(pod),
      container: name(container),
      host: name(host),
      dockerId: name(dockerId),
      ...(labels === undefined ? {} : { labels }),
      ...(fields === undefined ? {} : { fields }),
    },
    ...notes.result(),
  }
}

function takeLabels(
  flat: FlatFields,
  limits: IngestLimits,
  note: (reason: 'label_omitted' | 'label_shortened') => void,
): Readonly<Record<string, string>> | undefined {
  const labels = new Map<string, string>()
  for (const [name, raw] of flat) {
    const prefix = labelPrefixes.find(one => name.startsWith(one))
    if (prefix === undefined) continue
    const key = name.slice(prefix.length)
    const known = labels.get(key)
    const value = known ?? String(firstOf(raw))
    takeOut(flat, name, one => String(one) === value)
    if (known !== undefined) continue
    if (labels.size >= limits.labels || Buffer.byteLength(key) > limits.labelKeyBytes) note('label_omitted')
    else labels.set(key, value)
  }
  if (labels.size === 0) return undefined
  const toValue = (value: string) => shorten(value, limits.fieldBytes, () => note('label_shortened'))
  return Object.fromEntries([...labels].map(([key, value]) => [key, toValue(value)]))
}

function toFields(
  flat: FlatFields,
  limits: IngestLimits,
  note: (reason: 'field_omitted' | 'field_shortened') => void,
): Fields | undefined {
  const fields: [string, FieldValue][] = []
  let left = limits.fieldsBytes
  for (const [name, value] of flat) {
    const nameBytes = Buffer.byteLength(name)
    if (fields.length >= limits.fields || nameBytes > limits.fieldNameBytes || nameBytes >= left) {
      note('field_omitted')
      continue
    }
    left -= nameBytes
    const most = Math.min(limits.fieldValueBytes, left)
    const kept = shortenValue(value, most, () => note('field_shortened'))
    left -= bytesOf(kept)
    fields.push([name, kept])
  }
  return fields.length === 0 ? undefined : Object.fromEntries(fields)
}
