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
