import { constants, ZstdDecompress, zstdDecompressSync } from 'node:zlib'

/** What a frame of zstd has (RFC 8878), in memory of its own but for very little; throws where it is damaged. */
export type Decompress = (frame: Buffer) => Buffer

export const decompressOnce: Decompress = frame => {
  const size = sizesOf(frame)?.content ?? 0
  // Told nothing, zlib makes it of pieces of 16 KiB, and copies them; of a piece that is filled to its end it makes another.
  return size < little ? zstdDecompressSync(frame) : zstdDecompressSync(frame, { chunkSize: size + 1 })
}

/**
 * The same with one engine for many frames. `zstdDecompressSync` makes a stream and an engine for each, which takes as long as
 * what a block of 64 KiB needs itself, and leaves them to be collected. Node.js has no public way to keep an engine without
 * going through the event loop, so this asks its stream for the engine, as minizlib does; where there is none, or one that does
 * not do what is expected, each frame gets its own.
 */
export function createDecompress(): Decompress {
  let engine: Engine | undefined
  let isTrusted = true

  return frame => {
    const sizes = sizesOf(frame)
    // A part of a frame would leave the engine within it.
    const isWhole = sizes?.frame === frame.length
    if (isTrusted && isWhole) engine ??= openEngine()
    if (engine === undefined || !isWhole) return decompressOnce(frame)
    const bytes = Buffer.allocUnsafeSlow(sizes.content + 1)
    if (engine(frame, bytes)) return bytes.subarray(0, sizes.content)
    engine = undefined
    const content = decompressOnce(frame)
    // The frame is sound, so the engine is not what it was taken for.
    isTrusted = false
    return content
  }
}

/** Whether all of a frame came out, with one byte to spare. */
type Engine = (frame: Buffer, to: Buffer) => boolean

const little = 64
// What is damaged may say anything.
const mostAtOnce = 64 * 1024 * 1024

function openEngine(): Engine | undefined {
  const stream = new ZstdDecompress()
  // What is damaged ends the stream; the one who asked is told by decompressOnce.
  stream.on('error', () => undefined)
  if (!('_handle' in stream && '_writeState' in stream)) return undefined
  const { _handle: handle, _writeState: left } = stream
  if (typeof handle !== 'object' || handle === null || !('writeSync' in handle)) return undefined
  const { writeSync } = handle
  if (typeof writeSync !== 'function' || !(left instanceof Uint32Array)) return undefined
  return (frame, to) => {
    // An engine whose stream has ended is closed, and to ask it ends the process.
    if (stream.destroyed) return false
    // Where a frame is damaged it stays as it is, and must not be that of the one before.
    left.fill(nothing)
    Reflect.apply(writeSync, handle, [constants.ZSTD_e_end, frame, 0, frame.length, to, 0, to.length])
    const [room, rest] = left
    return room === 1 && rest === 0 && !stream.destroyed
  }
}

const nothing = 0xffffffff

/** How long a frame and its content are, where its head says so (RFC 8878, section 3.1.1); undefined where it does not. */
function sizesOf(frame: Buffer): { readonly frame: number; readonly content: number } | undefined {
  const flags = frame[4] ?? 0
  const isSingle = (flags >>> 5) & 1
  const at = 6 - isSingle + ((2 ** (flags & 3)) >>> 1)
  const form = flags >>> 6
  if (frame.length < at + 8 || (form !== 1 && form !== 2)) return undefined
  const content = form === 1 ? 256 + frame.readUInt16LE(at) : frame.readUInt32LE(at)
  if (content > mostAtOnce) return undefined
  return { frame: passBlocks(frame, at + 2 * form) + (flags & hasChecksum), content }
}

/** The flag of a checksum, and the length of one. */
const hasChecksum = 4

/** Where what comes behind the blocks begins (RFC 8878, section 3.1.1.2), as far as there are any. */
function passBlocks(frame: Buffer, from: number): number {
  let at = from
  let isLast = false
  while (!isLast && at + 3 <= frame.length) {
    const head = frame.readUIntLE(at, 3)
    const isRun = ((head >>> 1) & 3) === 1
    isLast = (head & 1) === 1
    at += 3 + (isRun ? 1 : head >>> 3)
  }
  return at
}
