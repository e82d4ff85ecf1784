import { createByteWriter } from './bytes.ts'
import { dictionaryBlockBytes, type Output, type Piece, useCompressed } from './segment-format.ts'

/** Puts words into blocks, as `dictionary-block.ts` describes them. */
export type BlockWriter = {
  /** The word from `from` up to `to`. */
  readonly add: (source: Buffer, from: number, to: number) => void
  readonly isEmpty: () => boolean
  /** Whether it has as many words as a block is to have. */
  readonly isFull: () => boolean
  /** Writes it; what is added then is of the next one. */
  readonly finish: (entries: Buffer, output: Output) => Piece
  readonly release: () => void
}

// One takes 9 us to unpack; parts of twice the size take 16, and no less of the disk.
const partBytes = 4096

export function createBlockWriter(): BlockWriter {
  const words = createByteWriter(2 * partBytes)
  const first = createByteWriter(128)
  const head = createByteWriter(1024)
  const body = createByteWriter(2 * dictionaryBlockBytes)
  let [parts, count, total] = [0, 0, 0]

  function finishPart(): void {
    if (count === 0) return
    const size = useCompressed(words.view(), packed => {
      body.bytes(packed)
      return packed.length
    })
    head.varint(count)
    head.varint(size)
    head.varint(first.length())
    head.bytes(first.view())
    words.clear()
    parts += 1
    count = 0
  }

  return {
    add: (source, from, to) => {
      if (count === 0) {
        first.clear()
        first.slice(source, from, to)
      }
      words.slice(source, from, to)
      words.byte(0)
      count += 1
      total += to - from + 1
      if (words.length() >= partBytes) finishPart()
    },
    isEmpty: () => total === 0,
    isFull: () => total >= dictionaryBlockBytes,
    finish: (entries, output) => {
      finishPart()
      useCompressed(entries, packed => body.bytes(packed))
      words.varint(parts)
      words.bytes(head.view())
      words.bytes(body.view())
      const piece = output.put(words.view())
      for (const writer of [words, head, body]) writer.clear()
      parts = total = 0
      return piece
    },
    release: () => {
      for (const writer of [words, first, head, body]) writer.release()
    },
  }
}
