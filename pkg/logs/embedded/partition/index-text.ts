import { fieldValues } from '../../fields.ts'
import type { LogRecord } from '../../record.ts'
import { fold, wordsOf } from '../../words.ts'

// Private use: no word of a text has these characters.
const streamMark = '\ue000'
const fieldMark = '\ue001'
const maxFieldChars = 200

/**
 * What FTS5 indexes of a line: its words, then a word of its stream and one of each field. Its tokenizer `ascii` takes letters
 * and digits of ASCII and all characters beyond for parts of words, and folds ASCII.
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

export function streamWord(stream: number): string {
  return streamMark + stream
}

/** The word of a field that has a value; values that differ in case, or after 200 characters, have the same. */
export function fieldWord(name: string, value: string): string {
  const word = fold(`${name}=${value}`).slice(0, maxFieldChars)
  return fieldMark + word.replaceAll(/[^a-z0-9\u0080-\uffff]/g, escapeCharacter)
}

function escapeCharacter(character: string): string {
  return String.fromCharCode(0xe100 + character.charCodeAt(0))
}
