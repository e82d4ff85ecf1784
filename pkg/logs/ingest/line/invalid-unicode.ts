import { isUtf8 } from 'node:buffer'
import type { FieldValue } from '../../field-values.ts'
import type { LogRecord } from '../../record.ts'
import type { Line } from './document.ts'

const replacement = '\ufffd'
const replacementBytes = Buffer.from(replacement)

/**
 * Adds a note to lines in which U+FFFD replaces bytes that are not UTF-8, or half of a surrogate
 * pair in the text. Values of fields and the origin keep it, because they are stored as JSON.
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
  for (const line of lines) {
    const { record, notes = [] } = line
    const isInvalid =
      record !== undefined && (!record.log.isWellFormed() || (isReplaced && hasReplacement(record)))
    yield isInvalid ? { record, notes: [...new Set([...notes, 'invalid_unicode' as const])] } : line
  }
}

function hasReplacement({ labels = {}, fields = {}, ...others }: LogRecord): boolean {
  return [others, labels, fields].some(members =>
    Object.entries(members).some(([name, value]) => name.includes(replacement) || isReplacedIn(value)),
  )
}

function isReplacedIn(value: FieldValue): boolean {
  if (typeof value === 'object') return value.some(isReplacedIn)
  return typeof value === 'string' && value.includes(replacement)
}
