/**
 * Memory for bodies, which other threads may read, and which is used again. Of buffers that come and go V8 collects everything
 * once there are some megabytes of them; what is shared it leaves out of its count. So what is too large to be kept is not shared:
 * nobody would notice how much of it lies about.
 */
export type BodyMemory = {
  readonly take: (size: number) => Buffer
  /** Nobody reads it any more. */
  readonly give: (bytes: Buffer) => void
}

// As many as there are batches at once: none is dropped while there are senders.
const mostKept = 8
// What shippers send unless told otherwise, and as much again.
const keptBytes = 4 * 1024 * 1024
const stepBytes = 256 * 1024

export function createBodyMemory(): BodyMemory {
  let kept: readonly SharedArrayBuffer[] = []

  return {
    take: size => {
      if (size > keptBytes) return Buffer.allocUnsafeSlow(size)
      const found = kept.find(memory => memory.byteLength >= size)
      if (found === undefined)
        return Buffer.from(new SharedArrayBuffer(Math.ceil(size / stepBytes) * stepBytes))
      kept = kept.filter(memory => memory !== found)
      return Buffer.from(found)
    },
    give: ({ buffer }) => {
      if (!(buffer instanceof SharedArrayBuffer) || kept.includes(buffer)) return
      // The larger ones are good for more.
      kept = [...kept, buffer].sort((a, b) => a.byteLength - b.byteLength).slice(-mostKept)
    },
  }
}
