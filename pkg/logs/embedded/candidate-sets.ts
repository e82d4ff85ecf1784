import { type Bitmap, emptyBitmap, isEmpty, noBits, rangeBitmap } from './bitmap.ts'
import type { Segment } from './segment.ts'

/**
 * What the indexes of a segment say: `must` surely match, `may` is all that could, `must` among them. Where the two are the
 * same nothing needs to be looked at, and somebody else may have it too; where not, `must` may be changed.
 */
export type Candidates = {
  readonly must: Bitmap
  readonly may: Bitmap
  /** How many surely match, where an index tells. */
  readonly count?: number | undefined
}

export function all({ footer }: Segment): Bitmap {
  return rangeBitmap(footer.count, 0, footer.count)
}

/** Nothing is made for it: most segments do not have a rare word. */
export const none: Candidates = exactly(noBits, 0)

export function exactly(bits: Bitmap, count?: number): Candidates {
  return { must: bits, may: bits, count }
}

export function unsure({ footer }: Segment, may: Bitmap): Candidates {
  return isEmpty(may) ? exactly(may) : { must: emptyBitmap(footer.count), may }
}

export function join(how: (a: Bitmap, b: Bitmap) => Bitmap, a: Candidates, b: Candidates): Candidates {
  if (a.must === a.may && b.must === b.may) return exactly(how(a.may, b.may))
  return { must: how(a.must, b.must), may: how(a.may, b.may) }
}
