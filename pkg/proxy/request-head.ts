import { isHeaderName, isHeaderValue } from './header-line.ts'
import type { HeaderLines } from './headers.ts'
import { upstreamError } from './upstream-error.ts'

export type RequestLines = {
  readonly method: string
  /** Path and query, as they go on the wire. */
  readonly path: string
  /** Those of the request itself: what frames it and what is of this hop is added here. */
  readonly headers: HeaderLines
  readonly block?: HeaderBlock | undefined
  readonly hasBody: boolean
}

/** Header lines as they go on the wire, checked once for all requests that have them. */
export type HeaderBlock = { readonly text: string }

export type RequestHead = {
  /** For the wire, as latin1. */
  readonly text: string
  /** Of the body; undefined when that goes out in chunks. */
  readonly length: number | undefined
}

// Those that say by themselves that there is a body: a server may ask for a length even of none.
const withBody = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Writes the head of a request. What could end a line or add one is refused, wherever it comes from.
 *
 * @throws Error REQUEST_INVALID
 */
export function toRequestHead(
  { method, path, headers, block, hasBody }: RequestLines,
  host: string,
): RequestHead {
  if (!isHeaderName(method) || path === '' || /[^\x21-\x7e\x80-\xff]/.test(path))
    throw invalid('its first line')
  let text = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n`
  let length: number | undefined
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? ''
    const value = headers[i + 1] ?? ''
    if (isContentLength(name)) length = toLength(value, length)
    else text += toLine(name, value)
  }
  if (block !== undefined) text += block.text
  if (!hasBody) {
    if (length !== undefined && length > 0) throw invalid('a length without a body')
    return { text: withBody.has(method) ? `${text}Content-Length: 0\r\n\r\n` : `${text}\r\n`, length: 0 }
  }
  const framing = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  return { text: `${text}${framing}\r\n\r\n`, length }
}

/** @throws Error REQUEST_INVALID, for what frames a body too: that is of one request alone */
export function toHeaderBlock(headers: HeaderLines): HeaderBlock {
  let text = ''
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? ''
    if (isContentLength(name) || name.toLowerCase() === 'transfer-encoding') throw invalid('a header')
    text += toLine(name, headers[i + 1] ?? '')
  }
  return { text }
}

function toLine(name: string, value: string): string {
  if (!isHeaderName(name) || !isHeaderValue(value)) throw invalid('a header')
  return `${name}: ${value}\r\n`
}

function isContentLength(name: string): boolean {
  return name.length === 14 && name.toLowerCase() === 'content-length'
}

function toLength(value: string, before: number | undefined): number {
  if (before !== undefined || !/^\d{1,15}$/.test(value)) throw invalid('its length')
  return Number(value)
}

function invalid(what: string): Error {
  return upstreamError('REQUEST_INVALID', `the request cannot be sent on: ${what}`)
}
