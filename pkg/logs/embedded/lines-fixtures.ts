import { releaseOwn } from '../own-memory.ts'
import { createLinesBuilder, type Lines } from './lines.ts'
import { openSegment, type Segment, type Shared } from './segment.ts'
import type { Piece } from './segment-format.ts'
import { writeSegment } from './segment-writer.ts'

const stream = { namespace: 'ns', pod: 'pod', container: 'c', host: '', dockerId: '' }

/** Lines of one stream with these texts, a nanosecond apart. */
export function linesOf(texts: readonly string[]): Lines {
  const lines = createLinesBuilder(20_000)
  for (const [i, text] of texts.entries()) {
    const source = Buffer.from(text)
    lines.add(i, i + 1, stream, source, 0, source.length)
  }
  return lines.finish()
}

/** A segment as in a file, in memory. */
export function segmentOf(lines: Lines, shared: Shared, id = 's'): Segment {
  const parts: Buffer[] = []
  writeSegment(lines, part => parts.push(Buffer.from(part)))
  return segmentIn(Buffer.concat(parts), shared, id)
}

/** The segment that a file has. */
export function segmentIn(bytes: Buffer, shared: Shared, id = 's'): Segment {
  const read = ({ offset, length }: Piece) => {
    const own = Buffer.allocUnsafeSlow(length)
    bytes.copy(own, 0, offset, offset + length)
    return own
  }
  // Whoever keeps what was lent finds something else there.
  const use = <T>(piece: Piece, work: (bytes: Buffer) => T): T => {
    const lent = read(piece)
    const result = work(lent)
    lent.fill(0xff)
    releaseOwn(lent)
    return result
  }
  const readInto = (offset: number, into: Buffer): void => {
    bytes.copy(into, 0, offset, offset + into.length)
  }
  return openSegment(id, { size: bytes.length, read, readInto, use, close: () => undefined }, shared)
}
