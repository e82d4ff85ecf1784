/**
 * Text as bytes that share their memory with nothing else. Buffer.from and Buffer.concat cut what is small from pools
 * (Buffer.poolSize, 64 KiB), and one byte that is kept keeps its pool: what lives for minutes among bytes that live for moments
 * would hold many times its size.
 */
export function toOwnBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/** The same bytes without the larger memory that they may be cut from. */
export function ownBytes(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
