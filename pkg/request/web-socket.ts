import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import {
  closeCodes,
  createFrameReader,
  frameLength,
  opcodes,
  toCloseFrame,
  toFrame,
} from './web-socket-frames.ts'

// How long the client may take over its own half of the end (RFC 6455 section 7.1.1).
const closingMs = 2_000
// Section 5.5.3 lets a server leave pings out: one that never reads its pongs must not fill memory.
const maxPongsBehindBytes = 64 * 1024

/**
 * Goes on with a connection as a WebSocket on which only the server speaks. What is written has to be frames (toFrame), of which
 * each begins with a write of its own and may go on in further ones; the end of the stream is the close frame. What the client says is passed over, but for pings and the close.
 *
 * @param lines of the 101, see answerHandshake
 * @param head what the client has sent behind its handshake already
 */
export function openWebSocket(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  lines: Readonly<Record<string, string>>,
  head: Buffer,
): Writable {
  const { socket } = req
  res.detachSocket(socket)
  res.statusCode = 101
  socket.write(toHead({ ...lines, ...namesOf(res) }))
  let closeCode = closeCodes.normal
  // Of the frame that is being written: nothing may come in between.
  let missingBytes = 0
  let pong: Buffer | undefined
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; ) {
        if (missingBytes === 0) missingBytes = frameLength(chunk.subarray(at))
        const part = Math.min(missingBytes, chunk.length - at)
        missingBytes -= part
        at += part
      }
      socket.write(chunk, done)
      if (pong !== undefined && missingBytes === 0) {
        socket.write(pong)
        pong = undefined
      }
    },
    final(done) {
      // A message that breaks off cannot be followed by a close frame.
      if (missingBytes > 0) socket.destroy()
      endSocket(socket, toCloseFrame(closeCode), done)
    },
    destroy(_error, done) {
      socket.destroy()
      done(null)
    },
  })
  const read = createFrameReader({
    ping(payload) {
      const answer = toFrame(opcodes.pong, payload)
      // Section 5.5.3: the last of several may be answered alone.
      if (missingBytes > 0) pong = answer
      else if (socket.writableLength < maxPongsBehindBytes) socket.write(answer)
    },
    close: () => stream.end(),
    fail() {
      closeCode = closeCodes.protocolError
      stream.end()
    },
  })
  socket.on('data', read)
  // Without a close frame it has just gone.
  for (const gone of ['end', 'close']) socket.once(gone, () => stream.destroy())
  // Without a socket the answer does not notice its own end; access log, metrics and audit wait for it.
  stream.once('close', () => res.emit('close'))
  if (head.length > 0) read(head)
  return stream
}

function endSocket(socket: Socket, frame: Buffer, done: () => void): void {
  const timer = setTimeout(() => socket.destroy(), closingMs)
  socket.once('close', () => {
    clearTimeout(timer)
    done()
  })
  socket.end(frame)
}

function toHead(lines: Readonly<Record<string, string>>): string {
  const text = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 101 Switching Protocols\r\n${text.join('')}\r\n`
}

/** The ids that every answer carries. */
function namesOf(res: ServerResponse): Record<string, string> {
  return Object.fromEntries(Object.entries(res.getHeaders()).map(([name, value]) => [name, String(value)]))
}
