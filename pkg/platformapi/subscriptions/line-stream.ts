import { Writable } from 'node:stream'

const lineFeed = 0x0a

/**
 * Returns a stream that accepts JSON objects, one per line, and forwards each with an id as its
 * first field. A line is forwarded when it is complete, in the parts in which it was written.
 *
 * @param write resolves when the next line can be written; must send nothing if `isWanted` is false
 * by then
 */
export function createLineStream(
  id: string,
  write: (line: readonly Buffer[], isWanted: () => boolean) => Promise<void>,
): Writable {
  const start = Buffer.from(`{"id":${JSON.stringify(id)},`)
  let parts: Buffer[] = []

  async function pass(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const found = chunk.indexOf(lineFeed, at)
      const end = found < 0 ? chunk.length : found + 1
      // The opening brace of the object is already part of the prefix.
      const part = chunk.subarray(parts.length === 0 ? at + 1 : at, end)
      if (parts.length === 0) parts.push(start)
      parts.push(part)
      at = end
      if (found < 0) return
      const line = parts
      parts = []
      await write(line, () => !stream.destroyed)
    }
  }

  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      pass(chunk).then(() => done(), done)
    },
  })
  return stream
}
