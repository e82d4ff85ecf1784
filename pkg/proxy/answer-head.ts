import { isHeaderName, isHeaderValue } from './header-line.ts'
import type { HeaderLines } from './headers.ts'
import { invalidAnswer } from './upstream-error.ts'

/** How the end of an answer is known (RFC 9112 section 6.3); a number is its length in bytes. */
export type Framing = 'none' | 'chunked' | 'until close' | number

export type AnswerHead = {
  readonly code: number
  /** The reason phrase; '' when there is none. */
  readonly message: string
  readonly lines: HeaderLines
  readonly framing: Framing
  /** For how long the connection may stand idle behind this answer; 0 when it is over with it. */
  readonly idleMs: number
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: (.*))?$/
// The other side counts from when it sent: a request that is on its way by then would be lost.
const hasteMs = 2_000

/**
 * Reads the head of an answer, without the empty line at its end. Nothing is guessed: of two readings of one head somebody could
 * make two answers (RFC 9112 section 11.1).
 *
 * @param text as latin1
 * @throws Error UPSTREAM_PROTOCOL
 */
export function parseAnswerHead(text: string, method: string): AnswerHead {
  const [first = '', ...rest] = text.split('\r\n')
  const [, minor, status, message = ''] = statusLine.exec(first) ?? []
  if (status === undefined || !isHeaderValue(message)) throw invalidAnswer('the status line')
  const lines = parseHeaderLines(rest)
  let length: string | undefined
  let coding: string | undefined
  let isLast = minor === '0'
  let idleMs = Number.POSITIVE_INFINITY
  for (let i = 0; i < lines.length; i += 2) {
    const value = lines[i + 1] ?? ''
    switch (framingName(lines[i] ?? '')) {
      case 'content-length':
        if (length !== undefined) throw invalidAnswer('more than one Content-Length')
        length = value
        break
      case 'transfer-encoding':
        if (coding !== undefined) throw invalidAnswer('more than one Transfer-Encoding')
        coding = value
        break
      case 'connection':
        isLast ||= /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(value)
        break
      case 'keep-alive':
        idleMs = toIdleMs(value)
    }
  }
  const code = Number(status)
  const framing = toFraming({ code, method, length, coding, isOld: minor === '0' })
  if (isLast || framing === 'until close') idleMs = 0
  return { code, message, lines, framing, idleMs }
}

/**
 * Reads header lines as name, value, name, value.
 *
 * @throws Error UPSTREAM_PROTOCOL, for folded lines too (RFC 9112 section 5.2)
 */
export function parseHeaderLines(text: readonly string[]): string[] {
  const lines: string[] = []
  for (const line of text) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0))
    const value = trim(line, colon + 1)
    if (!isHeaderName(name) || !isHeaderValue(value)) throw invalidAnswer('a header line')
    lines.push(name, value)
  }
  return lines
}

/** Without the blanks around it; those that JavaScript trims are more than HTTP knows. */
function trim(line: string, start: number): string {
  let [from, to] = [start, line.length]
  while (from < to && isBlank(line.charCodeAt(from))) from++
  while (to > from && isBlank(line.charCodeAt(to - 1))) to--
  return line.slice(from, to)
}

function isBlank(char: number): boolean {
  return char === 0x20 || char === 0x09
}

/** In lower case, when it may be one of those that are looked at: most are not, and each answer has a dozen. */
function framingName(name: string): string | undefined {
  const { length } = name
  return length === 10 || length === 14 || length === 17 ? name.toLowerCase() : undefined
}

type Told = {
  readonly code: number
  readonly method: string
  readonly length: string | undefined
  readonly coding: string | undefined
  readonly isOld: boolean
}

function toFraming({ code, method, length, coding, isOld }: Told): Framing {
  if (length !== undefined && !/^\d{1,15}$/.test(length)) throw invalidAnswer('Content-Length')
  if (coding !== undefined) {
    // Both together are how answers are smuggled (RFC 9112 section 6.3).
    if (length !== undefined) throw invalidAnswer('both Content-Length and Transfer-Encoding')
    if (isOld || coding.toLowerCase() !== 'chunked') throw invalidAnswer('Transfer-Encoding')
  }
  if (method === 'HEAD' || code < 200 || code === 204 || code === 304) return 'none'
  if (coding !== undefined) return 'chunked'
  return length === undefined ? 'until close' : Number(length)
}

function toIdleMs(keepAlive: string): number {
  const seconds = /(?:^|[,\s])timeout=(\d{1,9})(?:[,\s]|$)/i.exec(keepAlive)?.[1]
  return seconds === undefined ? Number.POSITIVE_INFINITY : Math.max(Number(seconds) * 1_000 - hasteMs, 0)
}
