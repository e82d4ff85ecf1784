import fc from 'fast-check'
import { resolvePlain } from '../../pkg/yaml/edit/go-scalar.ts'
import type { Json } from './kubeconfigs.ts'

/** The text of a kubeconfig as users may write it. */
export type WrittenKubeconfig = {
  readonly text: string
  readonly encoding: 'utf8' | 'utf16le'
  /** Whether aliases or merge keys connect its entries. */
  readonly isTied: boolean
}

/** Selects a spelling: returns a number below `below`. */
type Choose = (below: number) => number

/** Generates a configuration in one of the many equivalent spellings. */
export function writeKubeconfig(config: fc.Arbitrary<Json>): fc.Arbitrary<WrittenKubeconfig> {
  return fc
    .tuple(
      config,
      fc.infiniteStream(fc.nat()),
      fc.constantFrom('yaml', 'yaml', 'yaml', 'yaml', 'json', 'empty'),
    )
    .map(([value, stream, form]) => {
      const choose: Choose = below => Number(stream.next().value) % below
      if (form === 'empty')
        return encode(
          ['', '\n', '# nothing\n', '---\n', 'null\n', '--- # x\n...\n'][choose(6)] ?? '',
          choose,
          false,
        )
      if (form === 'json')
        return encode(escaped(JSON.stringify(value, undefined, ['', 2, '\t'][choose(3)])), choose, false)
      const writer = new Writer(choose)
      return encode(writer.document(value), choose, writer.isTied)
    })
}

function encode(text: string, choose: Choose, isTied: boolean): WrittenKubeconfig {
  const lines = choose(6) === 0 ? text.replaceAll('\n', '\r\n') : text
  const encoding = choose(20) === 0 ? 'utf16le' : 'utf8'
  const isMarked = encoding === 'utf16le' || choose(8) === 0
  return { text: isMarked ? `\ufeff${lines}` : lines, encoding, isTied }
}

class Writer {
  isTied = false
  readonly #choose: Choose
  #comments = 0
  readonly #anchors: { readonly name: string; readonly json: string }[] = []

  constructor(choose: Choose) {
    this.#choose = choose
  }

  document(value: Json): string {
    const before = ['', '', '---\n', '# first\n', '--- # start\n', '\n\n'][this.#choose(6)] ?? ''
    const body =
      this.#choose(8) === 0 ? `${this.#flow(value, 0)}\n` : this.#block(value, '').replace(/^\n/, '')
    const after = ['', '', '# last\n', '...\n', '---\nother: [document\n', '\n\n'][this.#choose(6)] ?? ''
    const text = before + body + after
    return this.#choose(8) === 0 ? text.replace(/\n$/, '') : text
  }

  /** Returns the text after `key:` or `-`: several lines, or a space and one line. */
  #block(value: Json, indent: string): string {
    if (typeof value !== 'object' || value === null) {
      const scalar = this.#tie(value, this.#scalar(value, indent))
      return `${scalar}${scalar.includes('\n') ? '' : this.#comment()}\n`
    }
    const isEmpty = Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
    if (isEmpty || this.#choose(8) === 0) return ` ${this.#flow(value, indent.length)}${this.#comment()}\n`
    const lines = Array.isArray(value)
      ? value.map(item => this.#item(item, indent))
      : this.#fields(Object(value), indent)
    return `${this.#comment()}\n${lines.join('')}`
  }

  #fields(value: Readonly<Record<string, Json>>, indent: string): readonly string[] {
    return Object.entries(value).map(([key, each]) => {
      const deeper =
        Array.isArray(each) && this.#choose(2) === 0 ? indent : `${indent}${' '.repeat(1 + this.#choose(4))}`
      const note = this.#choose(12) === 0 ? `${indent}# note ${++this.#comments}\n` : ''
      const blank = this.#choose(12) === 0 ? '\n' : ''
      return `${blank}${note}${indent}${this.#key(key)}:${this.#block(each, deeper)}`
    })
  }

  #item(value: Json, indent: string): string {
    const isMap =
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    if (!isMap || this.#choose(6) === 0) return `${indent}-${this.#block(value, `${indent}  `)}`
    const gap = ' '.repeat(1 + this.#choose(3))
    const inner = `${indent} ${gap}`
    const lines = this.#fields(Object(value), inner).join('')
    // A comment or an empty line may precede the first field.
    return lines.startsWith(inner) && !lines.startsWith(`${inner}#`)
      ? `${indent}-${gap}${lines.slice(inner.length)}`
      : `${indent}-\n${lines}`
  }

  #flow(value: Json, depth: number): string {
    const gap = this.#choose(3) === 0 ? `\n${' '.repeat(depth + 1)}` : ''
    const end = this.#choose(6) === 0 ? ', ' : ''
    if (Array.isArray(value)) {
      const items = value.map(item => `${gap}${this.#flow(item, depth + 1)}`)
      return `[${items.join(', ')}${items.length > 0 ? end : ''}]`
    }
    if (typeof value === 'object' && value !== null) {
      const items = Object.entries(value).map(
        ([key, each]) => `${gap}${this.#key(key)}: ${this.#flow(each, depth + 1)}`,
      )
      return `{${items.join(', ')}${items.length > 0 ? end : ''}}`
    }
    const scalar = this.#scalar(value, undefined).trimStart()
    return scalar === '' ? 'null' : scalar
  }

  #key(key: string): string {
    if (/^[\w.-]+$/.test(key) && resolvePlain(key) === 'string' && !/^[-.]/.test(key))
      return this.#choose(6) === 0 ? `"${key}"` : key
    return quoted(key)
  }

  /** Returns a scalar with a preceding space. */
  #scalar(value: Json, indent: string | undefined): string {
    if (value === null) return ['', ' null', ' ~', ' Null'][this.#choose(4)] ?? ''
    if (typeof value !== 'string')
      return ` ${(value ? ['true', 'yes', 'on', 'True'] : ['false', 'no', 'off', 'n'])[this.#choose(4)]}`
    const choice = this.#choose(5)
    if (choice < 2 && isPlain(value)) return ` ${value}`
    if (choice === 2 && /^[\x20-\x7e]*$/.test(value)) return ` '${value.replaceAll("'", "''")}'`
    if (choice === 3 && indent !== undefined && /^[\x21-\x7e][\x20-\x7e]*$/.test(value))
      return `${[' |-', ' >-'][this.#choose(2)]}\n${indent}  ${value}`
    return ` ${this.#choose(8) === 0 ? '!!str ' : ''}${quoted(value)}`
  }

  #comment(): string {
    return this.#choose(10) === 0 ? ` # c${++this.#comments}` : ''
  }

  /** Sometimes adds an anchor to a scalar, or replaces an equal scalar by an alias. */
  #tie(value: Json, scalar: string): string {
    if (scalar.includes('\n') || scalar === '') return scalar
    const json = JSON.stringify(value)
    const known = this.#anchors.find(anchor => anchor.json === json)
    if (known !== undefined && this.#choose(2) === 0) {
      this.isTied = true
      return ` *${known.name}`
    }
    if (this.#choose(25) !== 0) return scalar
    const name = `a${this.#anchors.length}`
    this.#anchors.push({ name, json })
    return ` &${name}${scalar}`
  }
}

function isPlain(text: string): boolean {
  return (
    resolvePlain(text) === 'string' &&
    /^[A-Za-z0-9/.][\w./@=+-]*(:[\w./]+)*$/.test(text) &&
    !/^(\.\.\.|---)/.test(text)
  )
}

function quoted(text: string): string {
  return escaped(JSON.stringify(text.toWellFormed()))
}

/** Escapes characters that YAML 1.1 treats as line breaks, or requires to be escaped. */
function escaped(json: string): string {
  const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return json.replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, toEscape)
}
