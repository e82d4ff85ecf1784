import type { Dispatcher } from '../http/pool.ts'
import type { HeaderLines } from './headers.ts'
import { isHeader, isHeaderText } from './validate-request.ts'

export type ResponseHead = {
  readonly code: number
  /** The reason phrase, possibly empty. */
  readonly message: string
  readonly lines: HeaderLines
}

type RawHeaders = Dispatcher.DispatchController['rawHeaders']

/**
 * Parses the response headers from undici, more strictly than undici does: a message that two
 * parsers read differently enables response smuggling (RFC 9112 sections 6.3 and 11.1).
 *
 * @throws Error UPSTREAM_PROTOCOL
 */
export function readHead(code: number, message: string, raw: RawHeaders): ResponseHead {
  // Rejects a 101 that was not requested: the bytes after it would be parsed as a response.
  if (code < 200 || code > 999) throw invalidResponse('the status code')
  const lines = readHeaders(raw)
  const lengths = valuesOf(lines, 'content-length')
  const codings = valuesOf(lines, 'transfer-encoding')
  if (lengths.length + codings.length > 1)
    throw invalidResponse('more than one of Content-Length and Transfer-Encoding')
  if (lengths.some(length => !/^\d{1,15}$/.test(length))) throw invalidResponse('Content-Length')
  if (codings.some(coding => coding.toLowerCase() !== 'chunked')) throw invalidResponse('Transfer-Encoding')
  // An invalid reason phrase is dropped: clients must ignore it anyway (RFC 9110 section 15.1).
  return { code, message: isHeaderText(message) ? message : '', lines }
}

function valuesOf(lines: HeaderLines, name: string): string[] {
  return lines.filter((_, i) => {
    const before = i % 2 === 1 ? lines[i - 1] : undefined
    return before?.length === name.length && before.toLowerCase() === name
  })
}

/** Reads headers or trailers into names and values in turn. @throws Error UPSTREAM_PROTOCOL */
export function readHeaders(raw: RawHeaders): string[] {
  const lines: string[] = []
  if (!Array.isArray(raw)) return lines
  for (let i = 0; i < raw.length; i += 2) {
    const name = toText(raw[i])
    const value = withoutBlanks(toText(raw[i + 1]))
    if (!isHeader(name, value)) throw invalidResponse('a header')
    lines.push(name, value)
  }
  return lines
}

function toText(bytes: Buffer | string | undefined): string {
  return typeof bytes === 'object' ? bytes.toString('latin1') : (bytes ?? '')
}

/** Removes leading and trailing blanks. String.prototype.trim removes more than HTTP allows. */
function withoutBlanks(value: string): string {
  let [from, to] = [0, value.length]
  while (from < to && isBlank(value.charCodeAt(from))) from++
  while (to > from && isBlank(value.charCodeAt(to - 1))) to--
  return value.slice(from, to)
}

function isBlank(char: number): boolean {
  return char === 0x20 || char === 0x09
}

/** Returns the error for a response that is not valid HTTP, with the code UPSTREAM_PROTOCOL. */
export function invalidResponse(what: string): Error {
  return Object.assign(new Error(`the response is not valid HTTP: ${what}`), { code: 'UPSTREAM_PROTOCOL' })
}
