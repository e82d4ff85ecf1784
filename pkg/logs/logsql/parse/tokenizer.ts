import { badRequest, type Status } from '../../../apierrors/status.ts'

export type Token = {
  /** Text without quotes and with escapes resolved. */
  readonly text: string
  readonly raw: string
  readonly isQuoted: boolean
  /** Whether white space or a comment precedes the token. */
  readonly isSpaced: boolean
  /** Position in the query, from 1. */
  readonly position: number
}

const maxLength = 65_536
const maxNames = 500
const word = /[\p{L}\p{Nd}_]+/uy
const blank = /(?:\s|#[^\n]*(?:\n|$))+/y
const operator = /=~|!~|!=|[\s\S]/uy
// A backslash consumes the next character, so that matching takes linear time.
const quoted = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|`[^`]*`/y

/** Punctuation that unquoted texts may contain: `foo-bar`, `10.0.0.1`, `/a/b`. */
const glue = ['+', '-', '/', ':', '.', '$']
export const isWord = (text: string) => /^[\p{L}\p{Nd}_]+$/u.test(text)

export function syntaxError(reason: string, position: number): Status {
  return badRequest(`query: ${reason} (at character ${position})`)
}

/** Reads the tokens of a query one by one. */
export class Tokens {
  readonly #tokens: readonly Token[]
  #at = 0
  #names = 0

  /** @throws Status 400 if the query is too long or has an invalid quote */
  constructor(query: string) {
    this.#tokens = tokensOf(query)
  }

  get current(): Token {
    return this.#tokens[this.#at] ?? endOf(this.#tokens)
  }

  get previous(): Token | undefined {
    return this.#tokens[this.#at - 1]
  }

  get next(): Token {
    return this.#tokens[this.#at + 1] ?? endOf(this.#tokens)
  }

  /** Index of the current token, for `goTo`. */
  get position(): number {
    return this.#at
  }

  goTo(position: number): void {
    this.#at = position
  }

  /** Returns the text of the tokens from a position up to the current one, without comments. */
  textSince(position: number): string {
    const tokens = this.#tokens.slice(position, this.#at)
    return tokens
      .map(({ raw, isSpaced }) => (isSpaced ? ` ${raw}` : raw))
      .join('')
      .trimStart()
  }

  advance(): Token {
    const token = this.current
    this.#at += 1
    return token
  }

  /** Reports whether the current token is one of these keywords, unquoted in any case. */
  is(...keywords: readonly string[]): boolean {
    const { text, isQuoted } = this.current
    return !isQuoted && keywords.includes(text.toLowerCase())
  }

  /** Skips the current token if it is one of these keywords. @returns whether it was */
  take(...keywords: readonly string[]): boolean {
    const isTaken = this.is(...keywords)
    if (isTaken) this.#at += 1
    return isTaken
  }

  /** Skips one of these keywords. @throws Status 400 if the current token is another */
  expect(...keywords: readonly string[]): void {
    if (this.take(...keywords)) return
    throw this.error(`expected ${keywords.join(' or ')}, not ${this.shown}`)
  }

  /** Whether the current filter or pipe ends here. */
  get isEnd(): boolean {
    return this.is('', '|', ')', ';')
  }

  get shown(): string {
    const { raw } = this.current
    return raw === '' ? 'the end' : JSON.stringify(raw)
  }

  /** Reads the name of a field, of which only so many are allowed. @throws Status 400 */
  name(stops: readonly string[] = []): string {
    this.#names += 1
    if (this.#names > maxNames) throw this.error(`the query has more than ${maxNames} field names`)
    return this.text('a field', stops)
  }

  error(reason: string): Status {
    return syntaxError(reason, this.current.position)
  }

  /**
   * Reads quoted text, or unquoted words and the punctuation between them.
   *
   * @param what description of the expected text, for the error
   * @param stops punctuation that ends an unquoted text
   * @throws Status 400 if the current token is neither
   */
  text(what: string, stops: readonly string[] = []): string {
    if (this.current.isQuoted) return this.advance().text
    const isPart = ({ text, isQuoted }: Token) =>
      !isQuoted && !stops.includes(text) && (glue.includes(text) || isWord(text))
    if (!isPart(this.current))
      throw this.error(`expected ${what}, not ${this.shown}; put special characters in quotes`)
    let text = this.advance().raw
    while (!this.current.isSpaced && isPart(this.current)) text += this.advance().raw
    if (glue.includes(text)) throw this.error(`${JSON.stringify(text)} must be in quotes`)
    return text
  }
}

function endOf(tokens: readonly Token[]): Token {
  const last = tokens.at(-1)
  const position = last === undefined ? 1 : last.position + last.raw.length
  return { text: '', raw: '', isQuoted: false, isSpaced: true, position }
}

function tokensOf(query: string): readonly Token[] {
  if (query.length > maxLength) throw badRequest(`query: longer than ${maxLength} characters`)
  const tokens: Token[] = []
  let at = 0
  const find = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(query)?.[0]
  }
  for (;;) {
    const spaces = find(blank)?.length ?? 0
    at += spaces
    if (at >= query.length) return tokens
    const position = at + 1
    const isSpaced = spaces > 0
    const inQuotes = find(quoted)
    const raw = inQuotes ?? find(word) ?? find(operator) ?? ''
    if (inQuotes === undefined && /^["'`]/.test(raw)) throw syntaxError('unterminated quote', position)
    const text = inQuotes === undefined ? raw : unquote(inQuotes, position)
    tokens.push({ text, raw, isQuoted: inQuotes !== undefined, isSpaced, position })
    at += raw.length
  }
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
}

/** Decodes a quoted text like Go. `\xHH` and `\OOO` are UTF-8 bytes. @throws Status 400 */
export function unquote(quotedText: string, position: number): string {
  const text = unescapeText(quotedText)
  if (text === undefined) throw syntaxError(`invalid escape in ${quotedText.slice(0, 100)}`, position)
  return text
}

const partPattern =
  /[^\\]+|\\(?:x([\da-fA-F]{2})|([0-3][0-7]{2})|(?:u([\da-fA-F]{4})|U([\da-fA-F]{8}))|([abfnrtv\\"']))/gy

/** Like `unquote`, but returns undefined for an unknown escape. */
export function unescapeText(quotedText: string): string | undefined {
  const inner = quotedText.slice(1, -1)
  if (quotedText.startsWith('`') || !inner.includes('\\')) return inner
  const bytes: Buffer[] = []
  let end = 0
  for (const found of inner.matchAll(partPattern)) {
    const part = bytesOf(found)
    if (part === undefined) return undefined
    bytes.push(part)
    end += found[0].length
  }
  return end === inner.length ? Buffer.concat(bytes).toString('utf8') : undefined
}

function bytesOf([raw, hex, octal, short, long, name]: RegExpExecArray): Buffer | undefined {
  if (hex !== undefined) return Buffer.of(Number.parseInt(hex, 16))
  if (octal !== undefined) return Buffer.of(Number.parseInt(octal, 8))
  if (name !== undefined) return Buffer.from(escapes[name] ?? '')
  const digits = short ?? long
  if (digits === undefined) return Buffer.from(raw)
  const code = Number.parseInt(digits, 16)
  return code > 0x10ffff ? undefined : Buffer.from(String.fromCodePoint(code))
}
