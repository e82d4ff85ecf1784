import { isSameStream, type Stream, streamKey } from './lines.ts'

/** Numbers the streams of a batch from 0 on, in the order in which they first come. */
export type StreamNumbers = {
  /** The next batch: its streams are numbered anew. */
  readonly begin: () => void
  /** Anything that has what a stream has. */
  readonly of: (from: Stream) => number
  /** How many there are in this batch. */
  readonly count: () => number
}

/** `batch`: the one that it has its number in. */
type Known = { readonly stream: Stream; batch: number; number: number }

// With labels a sender can make each stream another one, and long.
const mostKnown = 4096
const mostLength = 1024 * 1024

/**
 * Most streams come in each batch again: those of batches before are kept, and nothing is made for them. So of a record, which
 * has its text, nothing is left.
 *
 * @param begun called with each stream that is given a number
 */
export function createStreamNumbers(begun: (stream: Stream) => void): StreamNumbers {
  const byKey = new Map<string, Known>()
  // What comes from the container that another line came from is told without a key of its own.
  const latest = new Map<string, Known>()
  let length = 0
  let batch = 0
  let count = 0

  function know(from: Stream): Known {
    const key = streamKey(from)
    const before = byKey.get(key)
    if (before !== undefined) return before
    const { namespace, pod, container, host, dockerId, labels } = from
    const names = { namespace, pod, container, host, dockerId }
    const known = { stream: labels === undefined ? names : { ...names, labels }, batch: -1, number: 0 }
    byKey.set(key, known)
    length += key.length
    return known
  }

  return {
    begin: () => {
      batch += 1
      count = 0
      if (byKey.size <= mostKnown && length <= mostLength) return
      byKey.clear()
      latest.clear()
      length = 0
    },
    of: from => {
      let known = latest.get(from.dockerId)
      if (known === undefined || !isSameStream(known.stream, from)) {
        known = know(from)
        latest.set(from.dockerId, known)
      }
      if (known.batch === batch) return known.number
      known.batch = batch
      known.number = count
      count += 1
      begun(known.stream)
      return known.number
    },
    count: () => count,
  }
}
