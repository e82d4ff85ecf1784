import { type AnswerHead, parseAnswerHead, parseHeaderLines } from './answer-head.ts'
import type { HeaderLines } from './headers.ts'
import { invalidAnswer, upstreamError } from './upstream-error.ts'

export type AnswerEvents = {
  readonly head: (head: AnswerHead) => void
  /**
   * @param bytes as latin1. A string lies in V8's own heap, where it costs next to nothing once it is dead; a Buffer of this size lies
   *   outside of it, and as soon as a few thousand of them do V8 collects everything there is
   */
  readonly data: (bytes: string) => void
  /** @param isClean whether nothing came behind the answer, which nobody has asked for */
  readonly end: (trailers: HeaderLines, isClean: boolean) => void
}

export type AnswerReader = {
  /** Makes ready for the answer to the next request. */
  readonly expect: (method: string) => void
  /**
   * Takes what came in; `bytes` may be written over afterwards.
   *
   * @throws Error UPSTREAM_PROTOCOL, UPSTREAM_HEAD_TOO_LARGE
   */
  readonly take: (bytes: Buffer) => void
  /** The other side has ended: so has an answer that says no other end. */
  readonly close: () => void
  /** Nothing is told any more. */
  readonly stop: () => void
}

type State = 'nothing' | 'head' | 'length' | 'untilClose' | 'size' | 'chunk' | 'behindChunk' | 'trailers'

// Of a size with its extensions, which nobody uses.
const maxSizeLine = 4_096
const none: HeaderLines = []
const [carriageReturn, lineFeed] = [0x0d, 0x0a]

/**
 * Reads the answers of one HTTP/1.1 connection (RFC 9112), one after the other.
 *
 * @param maxHeadBytes of a head, and of the trailers
 */
export function createAnswerReader(maxHeadBytes: number, events: AnswerEvents): AnswerReader {
  let state: State = 'nothing'
  let method = 'GET'
  let left = 0
  /** A beginning whose end has not come yet. */
  let kept: Buffer | undefined
  let trailers = none
  let isStopped = false
  const isReading = () => state !== 'nothing'

  function keep(bytes: Buffer, at: number): number {
    kept = Buffer.from(bytes.subarray(at))
    return bytes.length
  }

  /** @returns where it ends; undefined when that has not come yet, and then all of it is kept */
  function find(end: string, bytes: Buffer, at: number, most: number): number | undefined {
    const found = bytes.indexOf(end, at, 'latin1')
    if ((found < 0 ? bytes.length : found) - at > most)
      throw upstreamError('UPSTREAM_HEAD_TOO_LARGE', `the answer has a head of more than ${most} bytes`)
    if (found >= 0) return found
    keep(bytes, at)
    return undefined
  }

  function emit(bytes: Buffer, at: number, next: State): number {
    const end = Math.min(at + left, bytes.length)
    left -= end - at
    if (left === 0) state = next
    events.data(bytes.toString('latin1', at, end))
    return end
  }

  function begin(head: AnswerHead): void {
    if (head.code === 101) throw invalidAnswer('another protocol, which nobody asked for')
    // Other informational answers are this hop's own affair.
    if (head.code < 200) return
    const { framing } = head
    left = typeof framing === 'number' ? framing : Number.POSITIVE_INFINITY
    if (framing === 'chunked') state = 'size'
    else if (framing === 'until close') state = 'untilClose'
    else state = framing === 'none' || framing === 0 ? 'nothing' : 'length'
    events.head(head)
  }

  /** For each state what reads on; they return how far they have read, which is all when they need more. */
  const steps: Readonly<Record<State, (bytes: Buffer, at: number) => number>> = {
    nothing: bytes => bytes.length,
    head(bytes, at) {
      // Whoever speaks something else is not waited for.
      if (bytes.length - at >= 7 && bytes.toString('latin1', at, at + 7) !== 'HTTP/1.')
        throw invalidAnswer('no HTTP/1')
      const end = find('\r\n\r\n', bytes, at, maxHeadBytes)
      if (end === undefined) return bytes.length
      begin(parseAnswerHead(bytes.toString('latin1', at, end), method))
      return end + 4
    },
    length: (bytes, at) => emit(bytes, at, 'nothing'),
    untilClose: (bytes, at) => emit(bytes, at, 'nothing'),
    size(bytes, at) {
      const end = find('\r\n', bytes, at, maxSizeLine)
      if (end === undefined) return bytes.length
      left = toSize(bytes.toString('latin1', at, end))
      state = left === 0 ? 'trailers' : 'chunk'
      return end + 2
    },
    chunk: (bytes, at) => emit(bytes, at, 'behindChunk'),
    behindChunk(bytes, at) {
      if (bytes[at] !== carriageReturn || (bytes[at + 1] ?? lineFeed) !== lineFeed)
        throw invalidAnswer('the end of a chunk')
      if (bytes.length - at < 2) return keep(bytes, at)
      state = 'size'
      return at + 2
    },
    trailers(bytes, at) {
      // Nearly always there are none.
      const first = find('\r\n', bytes, at, maxHeadBytes)
      const end = first === undefined || first === at ? first : find('\r\n\r\n', bytes, at, maxHeadBytes)
      if (end === undefined) return bytes.length
      state = 'nothing'
      if (end === at) return at + 2
      trailers = parseHeaderLines(bytes.toString('latin1', at, end).split('\r\n'))
      return end + 4
    },
  }

  return {
    expect(given) {
      method = given
      state = 'head'
      trailers = none
    },
    take(given) {
      if (!isReading()) throw invalidAnswer('one that nobody asked for')
      const bytes = kept === undefined ? given : Buffer.concat([kept, given])
      kept = undefined
      let at = 0
      while (at < bytes.length && isReading()) at = steps[state](bytes, at)
      // Told last: the next request may go out at once, and what is left here is no answer to it.
      if (!isReading() && !isStopped) events.end(trailers, at === bytes.length)
    },
    close() {
      if (state !== 'untilClose') return
      state = 'nothing'
      events.end(none, true)
    },
    stop() {
      isStopped = true
      state = 'nothing'
    },
  }
}

function toSize(line: string): number {
  const [, size] = /^([0-9a-f]{1,13})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/i.exec(line) ?? []
  if (size === undefined) throw invalidAnswer('the size of a chunk')
  return Number.parseInt(size, 16)
}
