/** One bit for each document of a segment; bit i is bit i % 32 of word i / 32. */
export type Bitmap = Uint32Array

/** Documents, and how many they are. */
export type Documents = { readonly bits: Bitmap; readonly count: number }

/** Instead of a bitmap in which nothing is set, where nobody sets anything. */
export const noBits: Bitmap = new Uint32Array(0)
export const noDocuments: Documents = { bits: noBits, count: 0 }

export function emptyBitmap(count: number): Bitmap {
  return new Uint32Array((count + 31) >>> 5)
}

/** Bits from `from` up to but not including `to`. */
export function rangeBitmap(count: number, from: number, to: number): Bitmap {
  const bits = emptyBitmap(count)
  if (from >= to) return bits
  const [first, last] = [from >>> 5, (to - 1) >>> 5]
  bits.fill(0xffffffff, first, last + 1)
  bits[first] = (bits[first] ?? 0) & (0xffffffff << (from & 31))
  bits[last] = (bits[last] ?? 0) & (0xffffffff >>> (31 - ((to - 1) & 31)))
  return bits
}

export function hasBit(bits: Bitmap, index: number): boolean {
  return (((bits[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1
}

export function setBit(bits: Bitmap, index: number): void {
  bits[index >>> 5] = (bits[index >>> 5] ?? 0) | (1 << (index & 31))
}

export function and(a: Bitmap, b: Bitmap): Bitmap {
  const result = new Uint32Array(a.length)
  for (let i = 0; i < a.length; i += 1) result[i] = (a[i] ?? 0) & (b[i] ?? 0)
  return result
}

export function or(a: Bitmap, b: Bitmap): Bitmap {
  const result = new Uint32Array(a.length)
  for (let i = 0; i < a.length; i += 1) result[i] = (a[i] ?? 0) | (b[i] ?? 0)
  return result
}

export function andNot(a: Bitmap, b: Bitmap): Bitmap {
  const result = new Uint32Array(a.length)
  for (let i = 0; i < a.length; i += 1) result[i] = (a[i] ?? 0) & ~(b[i] ?? 0)
  return result
}

export function isEmpty(bits: Bitmap): boolean {
  for (let i = 0; i < bits.length; i += 1) if (bits[i] !== 0) return false
  return true
}

/** How many bits are set from `from` up to but not including `to`. */
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

/** Indexes of the bits that are set from `from` up to `to`, at most `limit`: the first ones, or the last ones from the end on. */
export function takeBits(
  bits: Bitmap,
  range: { readonly from: number; readonly to: number },
  limit: number,
  fromEnd: boolean,
): number[] {
  const { from, to } = range
  const taken: number[] = []
  if (fromEnd) {
    for (let i = to - 1; i >= from && taken.length < limit; i -= 1) {
      if (bits[i >>> 5] === 0) i &= ~31
      else if (hasBit(bits, i)) taken.push(i)
    }
    return taken
  }
  for (let i = from; i < to && taken.length < limit; i += 1) {
    if (bits[i >>> 5] === 0) i |= 31
    else if (hasBit(bits, i)) taken.push(i)
  }
  return taken
}

function popcount(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
