import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TimeSlices } from '../../scheduling/time-slices.ts'

/** The default Cache-Control header of kube-apiserver. */
const uncached = { 'cache-control': 'no-cache, private' }

/**
 * Maximum size of a write. TLS encrypts each write as a whole, and keeps the result until the
 * client has read it. Large responses are shared buffers, of which each connection encrypts one
 * piece at a time.
 */
export const pieceBytes = 128 * 1024

/**
 * Returns whether a response has ended (possibly by the deadline) or its client has disconnected:
 * further work for it is useless.
 */
export function isOver(res: ServerResponse): boolean {
  return res.writableEnded || res.destroyed
}

/** Writes a whole body, in chunks as fast as the client reads if it is large. */
export function send(res: ServerResponse, code: number, body: Buffer, headers: OutgoingHttpHeaders): void {
  sendParts(res, code, [body], headers)
}

/** Writes a body of several parts without concatenating them. */
export function sendParts(
  res: ServerResponse,
  code: number,
  parts: readonly Uint8Array[],
  headers: OutgoingHttpHeaders,
): void {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  res.setHeader('cache-control', uncached['cache-control'])
  res.setHeader('content-length', length)
  res.writeHead(code, headers)
  const [only, second] = parts
  if (length > pieceBytes) void writePaced(res, parts)
  else if (second === undefined) res.end(only)
  else {
    res.cork()
    for (const part of parts) res.write(part)
    res.end()
  }
}

async function writePaced(res: ServerResponse, parts: readonly Uint8Array[]): Promise<void> {
  const write = createPacedWriter(res)
  for (const part of parts) {
    if (res.destroyed) return
    await write(part)
  }
  res.end()
}

export function sendJson(res: ServerResponse, code: number, value: unknown): void {
  sendJsonText(res, code, JSON.stringify(value))
}

/** Writes serialized JSON. */
export function sendJsonText(res: ServerResponse, code: number, json: string): void {
  send(res, code, Buffer.from(`${json}\n`), { 'content-type': 'application/json' })
}

// A longer time slice would noticeably delay other requests.
const sliceMs = 8

/**
 * Writes a body in chunks as fast as the client reads, and yields to other requests in between.
 *
 * @param chunks generated lazily, and no longer after the client has disconnected
 * @param timeSlices shared by all such work
 */
export async function sendChunks(
  res: ServerResponse,
  chunks: Iterable<Buffer>,
  headers: OutgoingHttpHeaders,
  timeSlices: TimeSlices,
): Promise<void> {
  res.writeHead(200, { ...uncached, ...headers })
  const write = createPacedWriter(res)
  let since = performance.now()
  for (const chunk of chunks) {
    if (res.destroyed) return
    await write(chunk)
    if (performance.now() - since <= timeSlices.sliceMs) continue
    await timeSlices.next()
    since = performance.now()
  }
  if (!res.destroyed) res.end()
}

/**
 * Resolves when all written data has been sent, or the client has disconnected.
 *
 * @param stallMs time after which a client that reads nothing is disconnected; no limit by default
 */
export function waitForDrain(out: Writable, stallMs = 0): Promise<void> {
  return new Promise(resolve => {
    let leftBytes = out.writableLength
    const timer = stallMs > 0 ? setInterval(check, stallMs) : undefined
    function check(): void {
      if (out.writableLength >= leftBytes) out.destroy()
      leftBytes = out.writableLength
    }
    const settle = () => {
      clearInterval(timer)
      out.off('drain', settle)
      out.off('close', settle)
      resolve()
    }
    out.once('drain', settle)
    out.once('close', settle)
  })
}

/**
 * Returns a function that writes chunks as fast as the client reads: each call waits until earlier
 * data has been sent or the client has disconnected.
 *
 * @returns a function that resolves to whether it had to wait
 */
export function createPacedWriter(res: Writable): (chunk: Uint8Array) => Promise<boolean> | boolean {
  // One listener for the whole body, which may have to wait a thousand times for a slow client.
  let closed: Promise<unknown> | undefined

  function write(piece: Uint8Array): Promise<boolean> | boolean {
    if (res.write(piece)) return false
    closed ??= new Promise(resolve => res.once('close', resolve))
    const waitForDrain = new Promise(resolve => res.once('drain', resolve))
    return Promise.race([waitForDrain, closed]).then(() => true)
  }

  async function writePieces(chunk: Uint8Array): Promise<boolean> {
    let hasWaited = false
    for (let at = 0; at < chunk.length && !res.destroyed; at += pieceBytes) {
      if (await write(chunk.subarray(at, at + pieceBytes))) hasWaited = true
    }
    return hasWaited
  }

  return chunk => (chunk.length <= pieceBytes ? write(chunk) : writePieces(chunk))
}

/** Collects generated chunks and yields to other requests. @param timeSlices shared by all such work */
export async function collect<T>(pieces: Iterable<T>, timeSlices?: TimeSlices): Promise<T[]> {
  const all: T[] = []
  let since = performance.now()
  for (const piece of pieces) {
    all.push(piece)
    // Shared time slices are shorter: with continuous long work, every other request waits for one.
    if (performance.now() - since > (timeSlices?.sliceMs ?? sliceMs)) {
      await (timeSlices === undefined ? nextTurn() : timeSlices.next())
      since = performance.now()
    }
  }
  return all
}

/** Returns whether Accept-Encoding allows gzip (RFC 9110 section 12.5.3); `q=0` excludes it. */
export function acceptsGzip(req: IncomingMessage): boolean {
  const header = req.headers['accept-encoding']
  if (header === undefined || header === 'identity') return false
  const offers = String(header).split(',').map(readOffer)
  // A clause for gzip takes precedence over one for `*`.
  const offer = offers.find(({ coding }) => coding === 'gzip') ?? offers.find(({ coding }) => coding === '*')
  return offer?.isAccepted === true
}

// The quality of RFC 9110 section 12.4.2, with any number of digits. The alternatives must not
// overlap, or matching would take quadratic time.
const weight = /^q=(0(?:\.\d*)?|1(?:\.0*)?)$/

function readOffer(text: string): { readonly coding: string; readonly isAccepted: boolean } {
  const [coding = '', parameter, ...more] = text.split(';', 3).map(part => part.trim().toLowerCase())
  const quality = parameter === undefined ? 1 : Number(weight.exec(parameter)?.[1] ?? 0)
  return { coding, isAccepted: quality > 0 && more.length === 0 }
}
