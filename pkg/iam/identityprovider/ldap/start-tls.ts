import type { Socket } from 'node:net'

// An ExtendedRequest with messageID 1 and the OID 1.3.6.1.4.1.1466.20037 (RFC 4511 sections 4.12
// and 4.14.1), in BER.
const request = Buffer.from('301d02010177188016312e332e362e312e342e312e313436362e3230303337', 'hex')
const maxResponse = 4096

/**
 * Sends StartTLS and waits for the response. More data than the response is rejected: an attacker
 * could send it unencrypted, to be read as if it came through TLS. The LDAP client would keep such
 * data in its buffer, so it cannot be used here.
 *
 * @throws Error if the server rejects it, or sends anything else
 */
export async function requestStartTls(socket: Socket): Promise<void> {
  socket.write(request)
  const response = await readMessage(socket)
  const code = readResultCode(response)
  if (code !== 0) throw new Error(`the LDAP server rejected StartTLS with result code ${code}`)
}

function readMessage(socket: Socket): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  let received = Buffer.alloc(0)
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    try {
      if (isWhole(received)) resolve(received)
    } catch (error) {
      reject(error)
    }
  }
  const onEnd = () => reject(new Error('the LDAP server closed the connection at StartTLS'))
  socket.on('data', onData).once('error', reject).once('close', onEnd)
  return promise.finally(() => {
    socket.pause()
    socket.off('data', onData).off('error', reject).off('close', onEnd)
  })
}

function isWhole(received: Buffer): boolean {
  if (received.length < 2) return false
  const { start, length } = readLength(received, 0x30, 0)
  if (start + length > maxResponse) throw new Error('the StartTLS response of the LDAP server is too large')
  if (received.length > start + length)
    throw new Error('the LDAP server sent data after its StartTLS response')
  return received.length === start + length
}

function readResultCode(response: Buffer): number {
  const message = readLength(response, 0x30, 0)
  const id = readLength(response, 0x02, message.start)
  if (id.length !== 1 || response[id.start] !== 1)
    throw new Error('the LDAP server responded to another request')
  const operation = readLength(response, 0x78, id.start + id.length)
  const code = readLength(response, 0x0a, operation.start)
  return response.readUIntBE(code.start, Math.min(code.length, 4))
}

function readLength(buffer: Buffer, tag: number, at: number): { start: number; length: number } {
  if (buffer[at] !== tag) throw new Error('invalid StartTLS response of the LDAP server')
  const first = buffer[at + 1] ?? 0
  if (first < 0x80) return { start: at + 2, length: first }
  const size = first & 0x7f
  if (size === 0 || size > 4) throw new Error('invalid StartTLS response of the LDAP server')
  // In an incomplete response the length is outside the buffer: the caller waits for more.
  if (buffer.length < at + 2 + size) return { start: at + 2 + size, length: 0xff }
  return { start: at + 2 + size, length: buffer.readUIntBE(at + 2, size) }
}
