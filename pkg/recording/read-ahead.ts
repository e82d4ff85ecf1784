import { Duplex } from 'node:stream'

/** Limits the output of all recorded sessions that waits in memory to be stored. */
export type ReadAhead = {
  /** Counts bytes that wait. @returns whether more may be read before they are stored */
  readonly hold: (bytes: number) => boolean
  readonly release: (bytes: number) => void
  /**
   * Creates a stream that accepts data ahead of a slow reader. Beyond the limit, it accepts the next
   * chunk when its reader has taken all before it.
   */
  readonly createStream: () => Duplex
}

export function createReadAhead(maxBytes: number): ReadAhead {
  let heldBytes = 0
  const hold = (bytes: number) => {
    heldBytes += bytes
    return heldBytes <= maxBytes
  }
  const release = (bytes: number) => {
    heldBytes -= bytes
  }

  function createStream(): Duplex {
    const queue: Buffer[] = []
    let isWanted = false
    let isEnding = false
    let accept: (() => void) | undefined

    function pass(): void {
      while (isWanted && queue.length > 0) {
        const chunk = queue.shift() ?? Buffer.alloc(0)
        release(chunk.length)
        isWanted = stream.push(chunk)
      }
      if (queue.length > 0) return
      const accepted = accept
      accept = undefined
      accepted?.()
      if (isEnding) stream.push(null)
    }

    const stream = new Duplex({
      read() {
        isWanted = true
        pass()
      },
      write(chunk: Buffer, _encoding, done) {
        queue.push(chunk)
        if (hold(chunk.length)) done()
        else accept = done
        pass()
      },
      final(done) {
        isEnding = true
        pass()
        done()
      },
      destroy(error, done) {
        for (const chunk of queue.splice(0)) release(chunk.length)
        done(error)
      },
    })
    return stream
  }

  return { hold, release, createStream }
}
