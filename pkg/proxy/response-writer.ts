import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeaderLines } from './headers.ts'
import type { ResponseHead } from './response-head.ts'

export type ResponseWriter = {
  readonly begin: (head: ResponseHead) => void
  readonly write: (bytes: Buffer) => void
  readonly end: (trailers: HeaderLines) => void
}

export type WriterOptions = {
  /** Whether each part must be sent immediately, as for a watch or a log that is followed. */
  readonly isLive: boolean
  /** Called when the client reads more slowly than the upstream server sends. */
  readonly wait: () => void
}

// A response that takes longer or is larger than this is sent in parts.
const holdMs = 5
const holdBytes = 64 * 1024

/**
 * Writes a response with as few writes as possible, since each is a TLS record and a system call.
 * kube-apiserver sends an object of 8 kB in three parts, of which the last is empty; all are sent
 * in one write with the headers. Data of a streaming response waits at most until the end of the
 * event-loop turn.
 */
export function createResponseWriter(
  req: IncomingMessage,
  res: ServerResponse,
  { isLive, wait }: WriterOptions,
): ResponseWriter {
  let head: ResponseHead | undefined
  let pending: Buffer[] = []
  let size = 0
  let timer: NodeJS.Timeout | undefined
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    if (isLive || size > holdBytes) {
      isScheduled = true
      process.nextTick(flush)
    } else timer ??= setTimeout(flush, holdMs)
  }

  function flush(): void {
    isScheduled = false
    clearTimeout(timer)
    timer = undefined
    // The deadline filter may have ended the response in the meantime.
    if (res.destroyed || res.writableEnded) return
    if (head !== undefined) {
      if (res.headersSent) return
      writeHead(res, head, undefined)
      head = undefined
      // Sends the headers of a watch without events immediately: its client waits for them.
      if (size === 0) res.flushHeaders()
    }
    if (size > 0 && !res.write(takePending())) wait()
  }

  function takePending(): Buffer {
    const [first = Buffer.alloc(0)] = pending
    const all = pending.length === 1 ? first : Buffer.concat(pending, size)
    pending = []
    size = 0
    return all
  }

  return {
    begin(responseHead) {
      head = responseHead
      schedule()
    },
    write(bytes) {
      pending.push(bytes)
      size += bytes.length
      schedule()
    },
    end(trailers) {
      clearTimeout(timer)
      if (res.destroyed || res.writableEnded) return
      const hasTrailers = trailers.length > 0
      if (head !== undefined) {
        if (res.headersSent) return
        // The body is complete, so its length is known; trailers require chunked encoding.
        writeHead(res, head, hasTrailers || req.method === 'HEAD' ? undefined : size)
        head = undefined
      }
      if (hasTrailers) res.addTrailers(toEntries(trailers))
      if (size > 0) res.end(takePending())
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

/** @param length of a complete body; a Content-Length of the upstream server is kept */
function writeHead(
  res: ServerResponse,
  { code, message, lines }: ResponseHead,
  length: number | undefined,
): void {
  const isLengthKnown = length === undefined || bodiless.has(code) || hasLength(lines)
  const all = isLengthKnown ? [...lines] : [...lines, 'Content-Length', String(length)]
  if (message === '') res.writeHead(code, all)
  else res.writeHead(code, message, all)
}

function hasLength(lines: HeaderLines): boolean {
  return lines.some((line, i) => i % 2 === 0 && line.toLowerCase() === 'content-length')
}
