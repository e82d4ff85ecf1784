import { skipString } from '../../../json/scan.ts'
import { splitLines } from '../body/split-lines.ts'
import type { IngestLimits } from '../limits.ts'
import { type Line, parseDocument } from '../line/document.ts'

/** A line with its number in the body, from 1. */
export type NumberedLine = Line & { readonly line: number }

/**
 * Parses one document per line (`Format json_lines` of the http output of Fluent Bit), or a JSON
 * array (`Format json`). Lines are parsed lazily.
 */
export function* parseJsonLines(sent: Buffer, limits: IngestLimits): Generator<NumberedLine> {
  const body = sent.subarray(hasMark(sent) ? 3 : 0)
  if (isArray(body)) return yield* parseArray(body, limits)
  let line = 0
  for (const text of splitLines(body)) {
    line++
    if (text.trim() !== '') yield { line, ...parseDocument(text, limits) }
  }
}

/** Reports whether the body begins with a UTF-8 byte order mark, which JSON.parse rejects. */
function hasMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
}

function isArray(body: Buffer): boolean {
  const first = body.find(byte => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)
  return first === 0x5b
}

function* parseArray(body: Buffer, limits: IngestLimits): Generator<NumberedLine> {
  let line = 0
  for (const text of splitArray(body.toString('utf8').trimStart())) {
    line++
    yield { line, ...(text === undefined ? { problem: 'not valid JSON' } : parseDocument(text, limits)) }
  }
}

/**
 * Yields the items of a JSON array as source text, which preserves numbers. Tracks only strings and
 * depth, since items are validated when they are parsed. Yields undefined for an invalid remainder.
 */
function* splitArray(text: string): Generator<string | undefined> {
  const change: Readonly<Record<string, number>> = { '[': 1, '{': 1, ']': -1, '}': -1 }
  let depth = 0
  let from = 1
  let isClosed = false
  // A regular expression would exhaust the stack for a string of megabytes.
  for (let at = 0; at < text.length; at++) {
    const token = text[at] ?? ''
    if (token === '"') {
      at = skipString(text, at) - 1
      continue
    }
    depth += change[token] ?? 0
    if (depth > 1 || (depth === 1 && token !== ',')) continue
    const member = text.slice(from, at)
    from = at + 1
    if (token === ',' || member.trim() !== '') yield member
    isClosed = token === ']' && depth === 0
    if (depth === 0) break
  }
  if (!isClosed || text.slice(from).trim() !== '') yield undefined
}
