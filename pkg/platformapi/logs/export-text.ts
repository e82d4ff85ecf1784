import { stripVTControlCharacters } from 'node:util'
import type { ExportFormat } from '../../logs/query/log-query.ts'
import type { LogRecord } from '../../logs/record.ts'
import { formatTime } from '../../logs/rfc3339.ts'
import { toCsvRow } from './csv.ts'
import { formatRecord, toLine } from './record-json.ts'

export type ExportForm = {
  readonly format: ExportFormat
  readonly withTime: boolean
  readonly withPod: boolean
}

export const mediaTypes: Readonly<Record<ExportFormat, string>> = {
  text: 'text/plain; charset=utf-8',
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
}

/** Returns the text before the first record: the header row of CSV. */
export function headOf({ format, withTime, withPod }: ExportForm): string {
  return format === 'csv'
    ? toCsvRow(cells(['time', 'namespace', 'pod', 'container', 'log'], withTime, withPod))
    : ''
}

/**
 * Formats one record. The text is the original line without terminal colours; line breaks that log
 * shippers have removed are not restored.
 */
export function toExportText(record: LogRecord, form: ExportForm): string {
  const { format, withTime, withPod } = form
  if (format === 'jsonl') return `${formatRecord(toLine(record, form))}\n`
  const { namespace, pod, container } = record
  const time = formatTime(record.timeNs)
  if (format === 'csv')
    return toCsvRow(cells([time, namespace, pod, container, record.log], withTime, withPod))
  const log = stripVTControlCharacters(record.log)
  const parts = [withTime ? time : '', withPod ? `${namespace}/${pod}/${container}` : ''].filter(Boolean)
  return `${[...parts, log].join(' ')}${log.endsWith('\n') ? '' : '\n'}`
}

function cells(all: readonly string[], withTime: boolean, withPod: boolean): readonly string[] {
  return all.filter((_, i) => i === 4 || (i === 0 ? withTime : withPod))
}
