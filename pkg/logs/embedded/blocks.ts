import { releaseOwn } from '../own-memory.ts'
import type { PieceCache } from './piece-cache.ts'
import type { Piece } from './segment-format.ts'

/** Pieces of a segment, as they are wanted: decompressed or not. */
export type Blocks = {
  /** Kept under a name, as long as there is room. */
  readonly get: (name: string, piece: Piece) => Buffer
  /** One of many that are gone through once: only kept where that takes no other's room, and else let go of by `pass`. */
  readonly enter: (name: string, piece: Piece) => Passing
}

export type Passing = { readonly bytes: Buffer; readonly isKept: boolean }

/** @param id of the segment; `cache` is for those of others too */
export function openBlocks(id: string, cache: PieceCache, load: (piece: Piece) => Buffer): Blocks {
  const find = (key: string, piece: Piece, isPassing: boolean): Buffer =>
    cache.get(
      key,
      () => load(piece),
      bytes => bytes.length,
      isPassing,
    )

  return {
    get: (name, piece) => find(`${id}/${name}`, piece, false),
    enter: (name, piece) => {
      const key = `${id}/${name}`
      const bytes = find(key, piece, true)
      return { bytes, isKept: cache.has(key) }
    },
  }
}

/** Who goes through everything has gigabytes of them in a few seconds, for which V8 would collect everything a dozen times a second. */
export function pass({ bytes, isKept }: Passing): void {
  if (!isKept) releaseOwn(bytes)
}
