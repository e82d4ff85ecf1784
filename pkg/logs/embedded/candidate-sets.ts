import { type Bitmap, emptyBitmap, isEmpty, rangeBitmap } from './bitmap.ts'
import type { Segment } from './segment.ts'

/**
 * What the indexes of a segment say: `must` surely match, `may` is all that could, `must` among them. Where the two are the
 * same nothing needs to be looked at.
 */
export type Candidates = { readonly must: Bitmap; readonly may: Bitmap }

export function all({ footer }: Segment): Bitmap {
  return rangeBitmap(footer.count, 0, footer.count)
}

export function none({ footer }: Segment): Candidates {
  return exactly(emptyBitmap(footer.count))
}

export function exactly(bits: Bitmap): Candidates {
  return { must: bits, may: bits }
}

export function unsure({ footer }: Segment, may: Bitmap): Candidates {
  return isEmpty(may) ? exactly(may) : { must: emptyBitmap(footer.count), may }
}

export function join(how: (a: Bitmap, b: Bitmap) => Bitmap, a: Candidates, b: Candidates): Candidates {
  if (a.must === a.may && b.must === b.may) return exactly(how(a.may, b.may))
  return { must: how(a.must, b.must), may: how(a.may, b.may) }
}
