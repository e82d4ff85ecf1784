import { fieldValues } from '../../field-values.ts'
import { fold, wordsOf } from '../../filter/words.ts'
import type { LogRecord } from '../../record.ts'

// Prefixes of index terms for streams and fields: characters that words do not contain.
const streamMark = '\ue000'
const fieldMark = '\ue001'
const maxFieldChars = 200

/**
 * Returns the text that FTS5 indexes for a line: its words, a term for its stream, and a term for
 * each field value. The tokenizer `ascii` treats ASCII letters and digits and all non-ASCII
 * characters as word characters, and folds ASCII case.
 */
export function indexText({ log, fields }: Pick<LogRecord, 'log' | 'fields'>, stream: number): string {
  const words = Buffer.byteLength(log) === log.length ? log : wordsOf(log).join(' ')
  const text = `${words} ${streamWord(stream)}`
  if (fields === undefined) return text
  const values = Object.keys(fields).flatMap(name =>
    fieldValues(fields, name).map(value => fieldWord(name, value)),
  )
  return `${text} ${values.join(' ')}`
}

/** Returns the index term of a stream. */
export function streamWord(stream: number): string {
  return streamMark + stream
}

/** Returns the index term of a field value. Ignores case, and the text after 200 characters. */
export function fieldWord(name: string, value: string): string {
  const word = fold(`${name}=${value}`).slice(0, maxFieldChars)
  return fieldMark + word.replaceAll(/[^a-z0-9\u0080-\uffff]/g, escapeCharacter)
}

function escapeCharacter(character: string): string {
  return String.fromCharCode(0xe100 + character.charCodeAt(0))
}
