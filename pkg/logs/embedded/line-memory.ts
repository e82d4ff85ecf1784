import { release } from '../own-memory.ts'

/**
 * Memory for lines that are in no segment, and for their indexes. It is shared, of which V8 takes no count: for buffers that grow
 * by twenty megabytes a second it would collect everything twice a second, though all of them are needed. So none of it is let
 * go of, and there is never more than a limit; beyond that it is what V8 counts, and finds.
 */
export type LineMemory = {
  /** So many bytes, which are nobody else's until they are given back. They begin where numbers of any size may. */
  readonly take: (size: number) => Buffer
  /** Nobody reads them any more. */
  readonly give: (bytes: Buffer) => void
}

// What is asked for differs by some: what was given back is to fit the next.
const stepBytes = 64 * 1024

export function createLineMemory(limitBytes: number): LineMemory {
  const kept: SharedArrayBuffer[] = []
  let made = 0

  /** The smallest that is large enough. */
  function findKept(size: number): SharedArrayBuffer | undefined {
    let best = -1
    for (const [i, { byteLength }] of kept.entries()) {
      if (byteLength >= size && (best < 0 || byteLength < (kept[best]?.byteLength ?? 0))) best = i
    }
    return best < 0 ? undefined : kept.splice(best, 1)[0]
  }

  return {
    take: size => {
      const wanted = Math.ceil(size / stepBytes) * stepBytes
      let memory = findKept(size)
      if (memory === undefined && made + wanted <= limitBytes) {
        made += wanted
        memory = new SharedArrayBuffer(wanted)
      }
      return memory === undefined ? Buffer.allocUnsafeSlow(size) : Buffer.from(memory, 0, size)
    },
    give: bytes => {
      if (bytes.buffer instanceof SharedArrayBuffer) kept.push(bytes.buffer)
      else release(bytes)
    },
  }
}

/** Parts of a piece of memory, one after the other; those of larger numbers are to come first. */
export type Cut = {
  readonly float64: (count: number) => Float64Array
  readonly uint32: (count: number) => Uint32Array
  readonly uint16: (count: number) => Uint16Array
  readonly bytes: (count: number) => Buffer
}

export function cutMemory({ buffer, byteOffset }: Buffer): Cut {
  let at = byteOffset
  const pass = (size: number): number => {
    at += size
    return at - size
  }
  return {
    float64: count => new Float64Array(buffer, pass(8 * count), count),
    uint32: count => new Uint32Array(buffer, pass(4 * count), count),
    uint16: count => new Uint16Array(buffer, pass(2 * count), count),
    bytes: count => Buffer.from(buffer, pass(count), count),
  }
}
