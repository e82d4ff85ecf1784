import { parse, parseAllDocuments, YAMLParseError } from 'yaml'

/** Invalid YAML. The message may quote secrets of the input. */
export class YamlError extends Error {
  /** The syntax error, without text of the input: "is not valid YAML (BAD_INDENT at line 3, column 1)". */
  readonly problem: string

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    const isParseError = cause instanceof YAMLParseError
    const [start] = isParseError ? (cause.linePos ?? []) : []
    // Other exceptions concern aliases: unknown anchors or too many aliases.
    const position = start === undefined ? '' : ` at line ${start.line}, column ${start.col}`
    this.problem = isParseError
      ? `is not valid YAML (${cause.code}${position})`
      : 'has aliases that cannot be resolved'
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
