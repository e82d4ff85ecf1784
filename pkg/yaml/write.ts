import { decodeString, firstIn, nextIn, skipBlank, skipString, skipValue, valueAfter } from '../json/scan.ts'
import { stringifyExactly } from '../json/stringify.ts'
import { toLiteral, toNumber, toQuoted, toScalar } from './write-scalar.ts'

// Deeper values are written on one line: indentation grows with the square of the depth, and
// parsers limit the depth.
const maxBlockDepth = 64
// YAML 1.1 (section 9.3) limits a key on the same line as its value to 1024 characters, and an
// escaped character takes several.
const maxKeyLength = 512

/**
 * Writes a value as a YAML document that all parsers of YAML 1.1 (kubectl, go-yaml, PyYAML) and 1.2
 * read as the same value. Undefined fields are omitted, as in JSON.
 *
 * @throws RangeError for NaN and infinities, which JSON cannot express
 */
export function toYaml(value: unknown): string {
  return jsonToYaml(stringifyExactly(value))
}

/** Like toYaml, but for a value given as valid JSON. Preserves numbers and key order. */
export function jsonToYaml(json: string): string {
  const writer = new Writer(json)
  writer.value(skipBlank(json, 0), { indent: '', depth: 0, isRoot: true })
  return `${writer.text()}\n`
}

/** Where a value is written: `indent` is the indentation of the collection that contains it. */
type WritePosition = { readonly indent: string; readonly depth: number; readonly isRoot?: boolean }

class Writer {
  readonly #json: string
  readonly #out: string[] = []

  constructor(json: string) {
    this.#json = json
  }

  text(): string {
    return this.#out.join('')
  }

  /** Writes the value at `at` on the current line. Returns the position after the value. */
  value(at: number, { indent, depth, isRoot = false }: WritePosition): number {
    const first = this.#json[at]
    const isCollection = (first === '{' || first === '[') && firstIn(this.#json, at) >= 0
    if (!isCollection) return this.#scalar(at, isRoot ? undefined : `${indent}  `)
    if (depth >= maxBlockDepth) return this.#flow(at)
    return first === '{'
      ? this.#members(at, isRoot ? '' : `${indent}  `, depth)
      : this.#items(at, isRoot ? '' : `${indent}  `, depth)
  }

  /** Writes the first field on the current line, the others on new lines. */
  #members(start: number, indent: string, depth: number): number {
    const json = this.#json
    let end = start + 1
    let at = firstIn(json, start)
    while (at >= 0) {
      if (end !== start + 1) this.#out.push('\n', indent)
      const keyEnd = skipString(json, at)
      const key = toScalar(decodeString(json, at, keyEnd))
      const valueAt = valueAfter(json, keyEnd)
      if (key.length > maxKeyLength) {
        this.#out.push('? ', key, '\n', indent, ': ')
        end = this.#flow(valueAt)
      } else {
        this.#out.push(key, ':')
        end = this.#memberValue(valueAt, indent, depth + 1)
      }
      at = nextIn(json, end)
    }
    return skipBlank(json, end) + 1
  }

  #memberValue(at: number, indent: string, depth: number): number {
    const first = this.#json[at]
    const isBlock = (first === '{' || first === '[') && firstIn(this.#json, at) >= 0 && depth < maxBlockDepth
    if (!isBlock) {
      this.#out.push(' ')
      return this.value(at, { indent, depth })
    }
    // List items have the indentation of their key, as kubectl writes them.
    const inner = first === '{' ? `${indent}  ` : indent
    this.#out.push('\n', inner)
    return first === '{' ? this.#members(at, inner, depth) : this.#items(at, inner, depth)
  }

  #items(start: number, indent: string, depth: number): number {
    const json = this.#json
    let end = start + 1
    let at = firstIn(json, start)
    while (at >= 0) {
      if (end !== start + 1) this.#out.push('\n', indent)
      this.#out.push('- ')
      end = this.value(at, { indent, depth: depth + 1 })
      at = nextIn(json, end)
    }
    return skipBlank(json, end) + 1
  }

  /** @param literalIndent indentation of a block literal; undefined where none is possible */
  #scalar(at: number, literalIndent: string | undefined): number {
    const json = this.#json
    const end = skipValue(json, at)
    const first = json[at]
    if (first === '"') {
      const text = decodeString(json, at, end)
      const literal = literalIndent === undefined ? undefined : toLiteral(text, literalIndent)
      this.#out.push(literal ?? toScalar(text))
    } else if (first === '{' || first === '[') this.#out.push(first === '{' ? '{}' : '[]')
    else this.#out.push(toWord(json.slice(at, end)))
    return end
  }

  /** Writes a value on one line, like JSON with spaces. Not recursive, to support any depth. */
  #flow(start: number): number {
    const json = this.#json
    const end = skipValue(json, start)
    let at = start
    while (at < end) {
      const first = json[at]
      if (first === '"') {
        const stringEnd = skipString(json, at)
        const text = toQuoted(decodeString(json, at, stringEnd))
        const isKey = json[skipBlank(json, stringEnd)] === ':'
        this.#out.push(isKey && text.length > maxKeyLength ? `? ${text} ` : text)
        at = stringEnd
      } else if (first === ',' || first === ':') {
        this.#out.push(first, ' ')
        at++
      } else if (first === '{' || first === '[' || first === '}' || first === ']') {
        this.#out.push(first)
        at++
      } else {
        const scalarEnd = skipValue(json, at)
        this.#out.push(toWord(json.slice(at, scalarEnd)))
        at = scalarEnd
      }
      at = skipBlank(json, at)
    }
    return end
  }
}

function toWord(source: string): string {
  return /^[-\d]/.test(source) ? toNumber(source) : source
}
