import { parse, parseAllDocuments, YAMLParseError } from 'yaml'

/** Invalid YAML. The message may quote secrets of the input; `place` and `code` do not. */
export class YamlError extends Error {
  /** For example BAD_INDENT or DUPLICATE_KEY. */
  readonly code: string
  /** For example "line 3, column 1"; '' if unknown. */
  readonly place: string

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    const isParseError = cause instanceof YAMLParseError
    const [start] = isParseError ? (cause.linePos ?? []) : []
    // Other exceptions concern aliases: unknown anchors or too many aliases.
    this.code = isParseError ? cause.code : 'BAD_ALIAS'
    this.place = start === undefined ? '' : `line ${start.line}, column ${start.col}`
  }
}

/**
 * Parses a YAML document (1.2 core schema); null if it is empty. Integers beyond
 * Number.MAX_SAFE_INTEGER become bigint.
 *
 * @throws YamlError
 */
export function parseYaml(text: string): unknown {
  try {
    return parse(text, toExact, { intAsBigInt: true })
  } catch (error) {
    throw new YamlError(error)
  }
}

/** Parses all documents of a text. @throws YamlError */
export function parseYamlDocuments(text: string): readonly unknown[] {
  try {
    return parseAllDocuments(text, { intAsBigInt: true }).map(document => {
      const [error] = document.errors
      if (error !== undefined) throw error
      return document.toJS({ reviver: toExact })
    })
  } catch (error) {
    throw new YamlError(error)
  }
}

function toExact(_key: unknown, value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
