import { badRequest } from '../../apierrors/status.ts'
import type { WildcardTest } from '../filter/wildcard.ts'

export type Term = {
  readonly kind: 'term'
  readonly position: number
  /** The name before the colon. */
  readonly field?: string
  readonly value:
    | Pick<WildcardTest, 'pieces'>
    | { readonly regex: string; readonly position: number; readonly caseSensitive: boolean }
    | { readonly operator: Comparison; readonly number: string }
}

export type Comparison = '<' | '<=' | '>' | '>='

export type Token = Term | { readonly kind: '(' | ')' | 'AND' | 'OR' | 'NOT'; readonly position: number }

const plainName = String.raw`[\p{L}_@][\p{L}\p{N}_@-]*(?:\.[\p{L}\p{N}_./@-]+)?`
const quotedName = String.raw`(?:[\p{L}_@][\p{L}\p{N}_@.-]*\.)?"(?:[^"\\]|\\.)*"`
// In a URL, the text before `://` is not a field name.
const fieldPattern = new RegExp(`(${plainName}:(?!//)|${quotedName}:)`, 'suy')
const comparisonPattern = new RegExp(
  String.raw`(${plainName}:?|${quotedName}:)([<>]=?)(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=[\s()]|$)`,
  'suy',
)
// The closing slash of an expression must end the term, so that /api/v1 is plain text.
const regexPattern = /\/((?:[^/\\\n]|\\.)+)\/(c?)(?=[\s()]|$)/y
const operatorPattern = /(AND|OR|NOT)(?=[\s()]|$)/y
const plainPattern = /[^\s()"*?\\]+/y

/** Throws Status 400. @param position position in q, from 1 */
export function syntaxError(message: string, position: number): never {
  throw badRequest(`q: ${message} (at position ${position})`)
}

/** Removes the colon after a name, and the quotes of its last part with their escapes. */
function toName(text: string): string {
  const name = text.replace(/:$/, '')
  const quote = name.indexOf('"')
  if (quote < 0) return name
  return name.slice(0, quote) + name.slice(quote + 1, -1).replaceAll(/\\(.)/gs, '$1')
}

/** Splits q into terms, operators and parentheses. */
export function readTerms(text: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  const find = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found === null) return undefined
    at = pattern.lastIndex
    return found
  }

  function readTerm(): Term {
    const position = at + 1
    const comparison = find(comparisonPattern)
    if (comparison !== undefined) {
      const [, name = '', operator = '', number = ''] = comparison
      return {
        kind: 'term',
        position,
        field: toName(name),
        value: { operator: operator as Comparison, number },
      }
    }
    const found = find(fieldPattern)?.[1]
    const field = found === undefined ? undefined : toName(found)
    const named = field === undefined ? {} : { field }
    const valueAt = at
    const regex = find(regexPattern)
    if (regex !== undefined) {
      const value = { regex: regex[1] ?? '', position: valueAt + 2, caseSensitive: regex[2] === 'c' }
      return { kind: 'term', position, ...named, value }
    }
    const pieces = readPieces()
    if (pieces.length === 0) syntaxError(`missing value after ${field}:`, at)
    return { kind: 'term', position, ...named, value: { pieces } }
  }

  /** Reads texts and wildcards. Adjacent texts, such as `a"b c"`, are one. */
  function readPieces(): WildcardTest['pieces'] {
    const pieces: WildcardTest['pieces'][number][] = []
    for (let next = text[at]; next !== undefined && !/[\s()]/.test(next); next = text[at]) {
      if (next === '*' || next === '?') {
        at += 1
        if (next === '?' || pieces.at(-1) !== '*') pieces.push(next)
        continue
      }
      const part = next === '"' ? readQuoted() : readPlain()
      const last = pieces.at(-1)
      if (typeof last === 'object') pieces.splice(-1, 1, { text: last.text + part })
      else pieces.push({ text: part })
    }
    return pieces
  }

  function readQuoted(): string {
    const open = at
    let content = ''
    for (at += 1; text[at] !== '"'; at += 1) {
      if (text[at] === '\\') at += 1
      if (at >= text.length) syntaxError('unterminated "', open + 1)
      content += text[at]
    }
    at += 1
    return content
  }

  function readPlain(): string {
    if (text[at] !== '\\') return find(plainPattern)?.[0] ?? ''
    const escaped = [...text.slice(at + 1, at + 3)][0] ?? syntaxError('missing character after \\', at + 1)
    at += 1 + escaped.length
    return escaped
  }

  while (at < text.length) {
    const next = text[at] ?? ''
    const position = at + 1
    const operator = find(operatorPattern)?.[1]
    if (operator === 'AND' || operator === 'OR' || operator === 'NOT') {
      tokens.push({ kind: operator, position })
    } else if (next === '(' || next === ')') {
      at += 1
      tokens.push({ kind: next, position })
    } else if (/\s/.test(next)) at += 1
    else tokens.push(readTerm())
  }
  return tokens
}
