import { Duplex } from 'node:stream'

/**
 * Returns a function that creates streams which accept data ahead of a slow reader, up to
 * `maxBytes` for all streams together. Beyond that, each stream accepts the next chunk when its
 * reader has taken all before it.
 */
export function createReadAhead(maxBytes: number): () => Duplex {
  let heldBytes = 0
  return () => {
    const queue: Buffer[] = []
    let isWanted = false
    let isEnding = false
    let accept: (() => void) | undefined

    function pass(): void {
      while (isWanted && queue.length > 0) {
        const chunk = queue.shift() ?? Buffer.alloc(0)
        heldBytes -= chunk.length
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
        heldBytes += chunk.length
        if (heldBytes <= maxBytes) done()
        else accept = done
        pass()
      },
      final(done) {
        isEnding = true
        pass()
        done()
      },
      destroy(error, done) {
        for (const chunk of queue.splice(0)) heldBytes -= chunk.length
        done(error)
      },
    })
    return stream
  }
}
