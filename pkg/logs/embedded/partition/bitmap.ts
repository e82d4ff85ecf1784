/** A set of lines in a range, with one bit per line. Bit i is bit i % 32 of word i / 32. */
export type Bitmap = Uint32Array

export function emptyBitmap(count: number): Bitmap {
  return new Uint32Array((count + 31) >>> 5)
}

export function hasBit(bits: Bitmap, index: number): boolean {
  return (((bits[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1
}

export function setBit(bits: Bitmap, index: number): void {
  bits[index >>> 5] = (bits[index >>> 5] ?? 0) | (1 << (index & 31))
}

/** Sets the bits from `from` up to but not including `to`. */
export function setBits(bits: Bitmap, from: number, to: number): void {
  for (let i = from; i < to; ) {
    if ((i & 31) === 0 && i + 32 <= to) {
      bits[i >>> 5] = 0xffffffff
      i += 32
    } else {
      setBit(bits, i)
      i += 1
    }
  }
}

export function and(a: Bitmap, b: Bitmap): Bitmap {
  const result = new Uint32Array(a.length)
  for (let i = 0; i < a.length; i += 1) result[i] = (a[i] ?? 0) & (b[i] ?? 0)
  return result
}

/** Returns the number of set bits from `from` up to but not including `to`. */
export function countBits(bits: Bitmap, from: number, to: number): number {
  if (from >= to) return 0
  const [first, last] = [from >>> 5, (to - 1) >>> 5]
  const head = 0xffffffff << (from & 31)
  const tail = 0xffffffff >>> (31 - ((to - 1) & 31))
  if (first === last) return popcount((bits[first] ?? 0) & head & tail)
  let count = popcount((bits[first] ?? 0) & head) + popcount((bits[last] ?? 0) & tail)
  for (let i = first + 1; i < last; i += 1) count += popcount(bits[i] ?? 0)
  return count
}

/** Returns the indexes of the set bits from `from` up to but not including `to`. */
export function listBits(bits: Bitmap, from: number, to: number): number[] {
  const list: number[] = []
  for (let i = from; i < to; i += 1) {
    if (bits[i >>> 5] === 0) i |= 31
    else if (hasBit(bits, i)) list.push(i)
  }
  return list
}

function popcount(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
