import { type Stream, streamKey } from './lines.ts'
import type { Share } from './open-footer.ts'

/** The streams of open segments. */
export type StreamPool = {
  /** The same with one object for each stream, and one list where the list before it had the same. */
  readonly share: Share
  /** How many there are. */
  readonly size: number
}

/** Most segments have the streams of those before them. What no segment has any more is let go of. */
export function createStreamPool(): StreamPool {
  const known = new Map<string, WeakRef<Stream>>()
  const registry = new FinalizationRegistry<string>(key => {
    // It may be there again by now.
    if (known.get(key)?.deref() === undefined) known.delete(key)
  })
  let last = new WeakRef<readonly Stream[]>([])

  function shareOne(stream: Stream): Stream {
    const key = streamKey(stream)
    const shared = known.get(key)?.deref()
    if (shared !== undefined) return shared
    known.set(key, new WeakRef(stream))
    registry.register(stream, key)
    return stream
  }

  return {
    share: streams => {
      const shared = streams.map(shareOne)
      const before = last.deref()
      if (before?.length === shared.length && shared.every((stream, i) => stream === before[i])) return before
      last = new WeakRef(shared)
      return shared
    },
    get size() {
      return known.size
    },
  }
}
