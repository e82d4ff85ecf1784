/**
 * Converts text to a Buffer with memory of its own. Buffer.from and Buffer.concat take small
 * buffers from a pool (Buffer.poolSize, 64 KiB), and a single long-lived one would keep the whole
 * pool in memory.
 */
export function toUnpooledBuffer(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/** The same bytes without the larger memory that they may be cut from. */
export function unpooledBuffer(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
