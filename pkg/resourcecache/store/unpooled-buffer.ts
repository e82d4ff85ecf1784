/**
 * Converts text to a Buffer with its own memory. Buffer.from and Buffer.concat take small buffers
 * from a pool (Buffer.poolSize, 64 KiB), and a single long-lived one would keep the whole pool in
 * memory.
 */
export function toUnpooledBuffer(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/** Copies bytes that are a slice, so that the rest of their buffer can be freed. */
export function unpooledBuffer(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
