import { Duplex } from 'node:stream'

const pieceBytes = 65_536

/**
 * One end of a connection in memory. The peer reads written data in chunks, with back-pressure. In
 * contrast, duplexPair of Node.js would pass a body of 20 MB as one chunk, and report it as sent
 * before any of it is read.
 */
export class MemoryConnection extends Duplex {
  bytesRead = 0
  bytesWritten = 0
  #peer: MemoryConnection | undefined
  /** Continues a write; called when the peer reads. */
  #resume: (() => void) | undefined

  static pair(): readonly [MemoryConnection, MemoryConnection] {
    const ends = [new MemoryConnection(), new MemoryConnection()] as const
    ends[0].#peer = ends[1]
    ends[1].#peer = ends[0]
    return ends
  }

  override _read(): void {
    const peer = this.#peer
    if (peer === undefined) return
    const resume = peer.#resume
    peer.#resume = undefined
    resume?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#send(chunk, done)
  }

  /** Passes data to the peer. As on any connection, data is lost if the peer has closed. */
  #send(chunk: Buffer, done: () => void): void {
    const peer = this.#peer
    if (peer === undefined || peer.destroyed || chunk.length === 0) {
      done()
      return
    }
    const piece = chunk.subarray(0, pieceBytes)
    this.bytesWritten += piece.length
    peer.bytesRead += piece.length
    const next = () => this.#send(chunk.subarray(piece.length), done)
    // Set before the push, which may make the peer read synchronously.
    this.#resume = next
    if (peer.push(piece) && this.#resume === next) {
      this.#resume = undefined
      next()
    }
  }

  override _final(done: () => void): void {
    this.#peer?.push(null)
    done()
  }

  /**
   * Aborts the connection if this end is destroyed before its last write. Afterwards, the peer can
   * still read all data.
   */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const peer = this.#peer
    this.#resume = undefined
    if (peer !== undefined && !peer.destroyed && !this.writableFinished) peer.destroy()
    done(error)
  }
}
