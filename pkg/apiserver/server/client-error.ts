import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { toKubeStatus } from '../../apierrors/render-kube.ts'
import { Status } from '../../apierrors/status.ts'

const lingerMs = 1_000

/**
 * Responds to invalid HTTP and closes the connection: after a framing error the start of the next
 * request is unknown (RFC 9112 section 11.2), and guessing it enables request smuggling.
 */
export function respondToClientErrors(server: Server | HttpsServer): void {
  const begun = new WeakMap<Duplex, Set<ServerResponse>>()
  const follow = ({ socket }: IncomingMessage, res: ServerResponse) => {
    const responses = begun.get(socket) ?? new Set()
    begun.set(socket, responses.add(res))
    res.once('close', () => responses.delete(res))
  }
  server.prependListener('request', follow)
  server.prependListener('checkContinue', follow)
  server.on('clientError', (error, socket) => {
    // With pipelined requests, only one response at a time may write to the connection.
    const responding = [...(begun.get(socket) ?? [])].find(res => res.socket === socket)
    respond(error, socket, responding)
  })
  // Without a listener for CONNECT, Node.js closes the connection without a response.
  server.on('connect', (_req, socket) => {
    if (begun.get(socket)?.size || !socket.writable) socket.destroy()
    else endInStages(socket, toText(noTunnel))
  })
}

const noTunnel = {
  code: 405,
  reason: 'Method Not Allowed',
  message: 'the server does not allow this method on the requested resource',
}

function respond(error: Error, socket: Duplex, responding: ServerResponse | undefined): void {
  if (responding?.req.complete === true && !responding.headersSent && socket.writable) {
    // The invalid bytes follow a complete request, whose response is still sent, as the last one.
    responding.shouldKeepAlive = false
    return
  }
  // More input after the error response below.
  if (socket.writableEnded && isParseError(error)) return
  if (!socket.writable || responding?.headersSent === true || codeOf(error) === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const text = toText(describe(error))
  if (responding !== undefined || !isParseError(error)) socket.end(text, () => socket.destroy())
  else endInStages(socket, text)
}

type Problem = { readonly code: number; readonly reason: string; readonly message: string }

function toText({ code, reason, message }: Problem): string {
  const kubeReason = code === 405 ? 'MethodNotAllowed' : 'BadRequest'
  const body = `${JSON.stringify(toKubeStatus(new Status(code, kubeReason, message)))}\n`
  const head = [
    `HTTP/1.1 ${code} ${reason}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-cache, private',
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

/**
 * Reads and discards input for a while before closing: an immediate close would reset the
 * connection, and the client would lose the response (RFC 9112 section 9.6). Only used after the
 * parser has failed permanently or is detached (CONNECT), so no input can become a request.
 */
function endInStages(socket: Duplex, text: string): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
  socket.once('end', () => socket.destroy())
  socket.end(text)
}

function isParseError(error: Error): boolean {
  return codeOf(error).startsWith('HPE_')
}

function describe(error: Error): Problem {
  const code = codeOf(error)
  if (code === 'HPE_INVALID_METHOD' && isRequestLine(error))
    return { code: 501, reason: 'Not Implemented', message: 'unknown method' }
  if (code === 'HPE_HEADER_OVERFLOW')
    return {
      code: 431,
      reason: 'Request Header Fields Too Large',
      message: 'the request headers are too large',
    }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return { code: 413, reason: 'Content Too Large', message: 'the chunk extensions are too large' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { code: 408, reason: 'Request Timeout', message: 'timed out waiting for the request' }
  return { code: 400, reason: 'Bad Request', message: 'the request is not valid HTTP/1.1' }
}

/** Returns whether only the method of a request line is unknown (RFC 9110 section 9.1). */
function isRequestLine(error: Error): boolean {
  const packet = 'rawPacket' in error ? error.rawPacket : undefined
  if (!Buffer.isBuffer(packet)) return false
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32} \S+ HTTP\/1\.[01]\r\n/.test(packet.toString('latin1', 0, 4096))
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}
