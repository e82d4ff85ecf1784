import { release } from './own-memory.ts'

/**
 * Memory that other threads may read, and that is used again. Of buffers that come and go V8 collects everything once there are
 * some megabytes of them, needed or not; what is shared it leaves out of its count. So there is never more of it in use than a
 * limit, and next to none of it is left to V8 to be found; what is beyond the limit is what V8 counts.
 */
export type SharedMemory = {
  /** So many bytes, which are nobody else's until they are given back. They begin where numbers of any size may. */
  readonly take: (size: number) => Buffer
  /** Nobody reads them any more. A part of them will do. */
  readonly give: (bytes: Buffer) => void
}

/**
 * @param limits limitBytes: of all; a piece of more than an eighth of it is not shared. stepBytes: pieces are multiples of it,
 * so that what was given back fits the next
 */
export function createSharedMemory(limits: {
  readonly limitBytes: number
  readonly stepBytes: number
}): SharedMemory {
  const { limitBytes, stepBytes } = limits
  // The smallest first.
  const kept: SharedArrayBuffer[] = []
  let made = 0

  function take(size: number): SharedArrayBuffer | undefined {
    const wanted = Math.max(1, Math.ceil(size / stepBytes)) * stepBytes
    if (8 * wanted > limitBytes) return undefined
    const found = kept.findIndex(({ byteLength }) => byteLength >= wanted)
    if (found >= 0) return kept.splice(found, 1)[0]
    // What is too small makes room for what is good for more, where that is enough, and never the other way: it comes to an end.
    const unused = kept.reduce((sum, { byteLength }) => sum + byteLength, 0)
    if (made - unused + wanted > limitBytes) return undefined
    while (made + wanted > limitBytes) made -= kept.shift()?.byteLength ?? 0
    made += wanted
    return new SharedArrayBuffer(wanted)
  }

  return {
    take: size => {
      const memory = take(size)
      return memory === undefined ? Buffer.allocUnsafeSlow(size) : Buffer.from(memory, 0, size)
    },
    give: bytes => {
      const { buffer } = bytes
      if (!(buffer instanceof SharedArrayBuffer)) release(bytes)
      else if (!kept.includes(buffer)) {
        const after = kept.findIndex(({ byteLength }) => byteLength >= buffer.byteLength)
        kept.splice(after < 0 ? kept.length : after, 0, buffer)
      }
    },
  }
}
