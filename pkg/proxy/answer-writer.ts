import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeaderLines } from './headers.ts'

export type Head = {
  readonly code: number
  /** The reason phrase; '' when there is none. */
  readonly message: string
  readonly lines: readonly string[]
}

export type AnswerWriter = {
  /**
   * Whether the upstream has said anything: its answer cannot be asked for again. No getter: V8 makes a hidden class of its own for each
   * object literal with one, out of reach of quick collections, and all of the request hangs on it.
   */
  readonly hasBegun: () => boolean
  readonly begin: (head: Head) => void
  /** @param bytes as latin1 */
  readonly write: (bytes: string) => void
  readonly end: (trailers: HeaderLines) => void
}

export type AnswerOptions = {
  /** Whether each piece is to be seen as it comes: a watch, a log that is followed. */
  readonly isLive: boolean
  /** Called when the client does not read as quickly as the upstream sends. */
  readonly wait: () => void
}

// What is not over after so long, or larger, goes out in pieces.
const holdMs = 5
const holdBytes = 64 * 1024

/**
 * Writes an answer with as few writes as can be: each is a TLS record and a system call. kube-apiserver sends an object of
 * 8 kB in three pieces, the last of which is the end alone; they are waited for and go out as one, with the head. A live answer
 * is held no longer than to the end of the turn.
 */
export function createAnswerWriter(
  req: IncomingMessage,
  res: ServerResponse,
  { isLive, wait }: AnswerOptions,
): AnswerWriter {
  let head: Head | undefined
  let pending = ''
  let timer: NodeJS.Timeout | undefined
  let isScheduled = false
  let hasBegun = false

  function schedule(): void {
    if (isScheduled) return
    if (isLive || pending.length > holdBytes) {
      isScheduled = true
      process.nextTick(flush)
    } else timer ??= setTimeout(flush, holdMs)
  }

  function flush(): void {
    isScheduled = false
    clearTimeout(timer)
    timer = undefined
    // Somebody else may have answered meanwhile: a deadline that is over.
    if (res.destroyed || res.writableEnded) return
    if (head !== undefined) {
      if (res.headersSent) return
      writeHead(res, head, undefined)
      head = undefined
      // A watch may have nothing to say for a minute; its client waits for the head.
      if (pending === '') res.flushHeaders()
    }
    if (pending !== '' && !res.write(taken(), 'latin1')) wait()
  }

  function taken(): string {
    const all = pending
    pending = ''
    return all
  }

  return {
    hasBegun: () => hasBegun,
    begin(given) {
      hasBegun = true
      head = given
      schedule()
    },
    write(bytes) {
      pending += bytes
      schedule()
    },
    end(trailers) {
      clearTimeout(timer)
      if (res.destroyed || res.writableEnded) return
      const hasTrailers = trailers.length > 0
      if (head !== undefined) {
        if (res.headersSent) return
        // All of it is there: its length can be told. Only an answer in pieces has trailers.
        writeHead(res, head, hasTrailers || req.method === 'HEAD' ? undefined : pending.length)
        head = undefined
      }
      if (hasTrailers) res.addTrailers(toEntries(trailers))
      if (pending !== '') res.end(taken(), 'latin1')
      else res.end()
    },
  }
}

function toEntries(lines: HeaderLines): [string, string][] {
  const entries: [string, string][] = []
  for (let i = 0; i < lines.length; i += 2) entries.push([lines[i] ?? '', lines[i + 1] ?? ''])
  return entries
}

const bodiless = new Set([204, 304])

/** @param length of the body, when all of it is there; a length that the upstream named is left as it is */
function writeHead(res: ServerResponse, { code, message, lines }: Head, length: number | undefined): void {
  const isLengthKnown = length === undefined || bodiless.has(code) || hasLength(lines)
  const all = isLengthKnown ? [...lines] : [...lines, 'Content-Length', String(length)]
  if (message === '') res.writeHead(code, all)
  else res.writeHead(code, message, all)
}

function hasLength(lines: HeaderLines): boolean {
  return lines.some((line, i) => i % 2 === 0 && line.toLowerCase() === 'content-length')
}
