import { isUtf8 } from 'node:buffer'
import type { Fields, FieldValue } from '../../field-values.ts'
import type { LogRecord } from '../../record.ts'
import type { Line } from './document.ts'

const replacement = '\ufffd'
const replacementBytes = Buffer.from(replacement)

/**
 * Adds a note to lines in which U+FFFD replaces bytes that are not UTF-8, or half of a surrogate
 * pair.
 *
 * @param body the batch from which the lines were read
 */
export function* noteInvalidUnicode(
  lines: Iterable<Line>,
  body: Buffer,
  encoding: 'json' | 'protobuf',
): Generator<Line> {
  // Protobuf is never UTF-8 as a whole. Without U+FFFD in the body, each in a line replaces bytes.
  const isReplaced = encoding === 'json' ? !isUtf8(body) : !body.includes(replacementBytes)
  const isInvalid = (text: string) => !text.isWellFormed() || (isReplaced && text.includes(replacement))
  for (const line of lines) {
    const { record, notes = [] } = line
    yield record !== undefined && someText(record, isInvalid)
      ? { record, notes: [...new Set([...notes, 'invalid_unicode' as const])] }
      : line
  }
}

type TextTest = (text: string) => boolean

/** Reports whether a text, name or value of a record passes a test. */
function someText(record: LogRecord, test: TextTest): boolean {
  const { log, namespace, pod, container, host, dockerId, labels, fields } = record
  return (
    [log, namespace, pod, container, host, dockerId].some(test) ||
    someMember(labels, test) ||
    someMember(fields, test)
  )
}

function someMember(members: Fields | undefined, test: TextTest): boolean {
  for (const name in members) if (test(name) || someValue(members[name] ?? '', test)) return true
  return false
}

function someValue(value: FieldValue, test: TextTest): boolean {
  if (typeof value === 'object') return value.some(one => someValue(one, test))
  return typeof value === 'string' && test(value)
}
