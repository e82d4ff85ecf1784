import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { RequestHead } from './request-head.ts'
import { upstreamError } from './upstream-error.ts'

export type BodySender = {
  /** Whether the other side has all of it. */
  readonly isSent: () => boolean
  /** Whether it is the other side that is waited for, and not whoever makes the body. */
  readonly isBlocked: () => boolean
  /** Writes no more; the rest is for the giver to look after. */
  readonly stop: () => void
}

/**
 * Sends a request with its body as it comes, at the pace of the other side. Most bodies are short and there at once: head and
 * body then go out in one write.
 *
 * @param broken told when the body is not what its head says, or was broken off: what was sent must not look like a whole
 */
export function sendBody(
  socket: Socket,
  head: RequestHead,
  body: Readable,
  broken: (error: Error) => void,
): BodySender {
  const isChunked = head.length === undefined
  let left = head.length ?? Number.POSITIVE_INFINITY
  let isHeadSent = false
  let isSent = false
  const sendHead = () => {
    if (!isHeadSent) socket.write(head.text, 'latin1')
    isHeadSent = true
  }
  const resume = () => void body.resume()
  const stop = () => {
    clearImmediate(soon)
    body.off('data', send).off('end', finish).off('close', check)
    socket.off('drain', resume)
  }
  const fail = (message: string) => {
    stop()
    broken(upstreamError('REQUEST_BROKEN_OFF', message, body.errored ?? undefined))
  }
  const send = (chunk: Buffer) => {
    // A chunk of no bytes would be the last.
    if (chunk.length === 0) return
    left -= chunk.length
    if (left < 0) return fail('the body is longer than its head says')
    socket.cork()
    sendHead()
    if (isChunked) socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
    socket.write(chunk)
    if (isChunked) socket.write('\r\n', 'latin1')
    socket.uncork()
    if (!socket.writableNeedDrain) return
    body.pause()
    socket.once('drain', resume)
  }
  const finish = () => {
    if (!isChunked && left > 0) return fail('the body is shorter than its head says')
    stop()
    sendHead()
    if (isChunked) socket.write('0\r\n\r\n', 'latin1')
    isSent = true
  }
  const check = () => fail('the body was broken off')
  // A body that lets wait for itself: the other side may have something to say to the head alone.
  const soon = setImmediate(sendHead)
  body.on('data', send).once('end', finish).once('close', check)
  if (body.destroyed) process.nextTick(check)
  return { isSent: () => isSent, isBlocked: () => socket.writableNeedDrain, stop }
}
