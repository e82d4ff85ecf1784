import { skipBlank, skipString, skipValue } from '../../../json/scan.ts'
import { splitLines } from '../body/split-lines.ts'
import type { IngestLimits } from '../limits.ts'
import { type Line, parseDocument } from '../line/document.ts'

/** A line with its number in the body, from 1. */
export type NumberedLine = Line & { readonly line: number }

/**
 * Parses one document per line (`Format json_lines` of the http output of Fluent Bit), documents
 * without anything between them (`json_stream`), or a JSON array (`json`). Lines are parsed lazily.
 */
export function* parseJsonLines(body: Buffer, limits: IngestLimits): Generator<NumberedLine> {
  if (isArray(body)) return yield* parseArray(body, limits)
  let line = 0
  for (const text of splitLines(body)) {
    line++
    if (text.trim() !== '') for (const parsed of parseLine(text, limits)) yield { line, ...parsed }
  }
}

function* parseLine(text: string, limits: IngestLimits): Generator<Line> {
  const line = parseDocument(text, limits)
  const documents = line.problem === undefined ? [] : splitDocuments(text)
  if (documents.length < 2) yield line
  else for (const document of documents) yield parseDocument(document, limits)
}

/** Splits concatenated JSON objects. Returns nothing if the text is something else. */
function splitDocuments(text: string): readonly string[] {
  const documents: string[] = []
  let at = skipBlank(text, 0)
  while (text[at] === '{') {
    const end = skipValue(text, at)
    documents.push(text.slice(at, end))
    at = skipBlank(text, end)
  }
  return at < text.length ? [] : documents
}

/** Reports whether the body is an array, after white space and a byte order mark. */
function isArray(body: Buffer): boolean {
  return body.find(byte => !ignored.has(byte)) === 0x5b
}

const ignored = new Set([0x20, 0x0a, 0x0d, 0x09, 0xef, 0xbb, 0xbf])

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
