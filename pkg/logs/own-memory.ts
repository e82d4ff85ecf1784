/** The same bytes in memory that has nothing else in it, so that it can be given to another thread; a copy where need be. */
export function inOwnMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes)
}

/** What another thread gave, which is no Buffer any more. */
export function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/**
 * Lets go of memory at once, of which these bytes are all. What has lived for some milliseconds is old for V8, and once some
 * megabytes of buffers are, it collects everything.
 */
export function release({ buffer }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0)
}

/** The same, but nothing where they are a part of other memory. */
export function releaseWhole(bytes: Uint8Array): void {
  if (bytes.byteLength === bytes.buffer.byteLength) release(bytes)
}

/** The same, where they are nobody else's even if they do not fill it; nothing in the pool that Node.js takes small buffers from. */
export function releaseOwn(bytes: Uint8Array): void {
  if (bytes.buffer.byteLength > Buffer.poolSize) release(bytes)
}
