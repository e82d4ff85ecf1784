import { Transform } from 'node:stream'
import { Receiver } from 'ws'

export type TapOptions = {
  /** The side of the connection that sends this direction. */
  readonly sender: 'client' | 'server'
  /** Maximum size of a message; a larger one ends the connection. */
  readonly maxMessageBytes: number
  /** Handles a complete message; later data is held back until the promise resolves. */
  readonly receive: (message: Buffer) => Promise<void> | undefined
}

// Limits per message, since each fragment occupies additional memory regardless of its size.
const [maxFragments, maxBufferedChunks] = [1_000, 16_384]

/**
 * Creates a stream that passes on one direction of a WebSocket connection unchanged, and parses its
 * messages (RFC 6455). It fails for an invalid frame, and if `receive` fails.
 */
export function createWebSocketTap({ sender, maxMessageBytes, receive }: TapOptions): Transform {
  const limits = { maxPayload: maxMessageBytes, maxFragments, maxBufferedChunks }
  const receiver = new Receiver({ isServer: sender === 'client', ...limits })
  let handled: (Promise<void> | undefined)[] = []
  receiver.on('message', (message: Buffer) => {
    const handling = receive(message)
    // Prevents an unhandled rejection if an invalid frame ends the stream before the handler has.
    handling?.catch(() => undefined)
    handled.push(handling)
  })
  const tap = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      handled = []
      // A copy, since the parser unmasks the data in place.
      receiver.write(Buffer.from(chunk), error => {
        if (error) return done(error)
        Promise.all(handled).then(
          () => done(null, chunk),
          failure => done(failure instanceof Error ? failure : new Error(String(failure))),
        )
      })
    },
    destroy(error, done) {
      receiver.destroy()
      done(error)
    },
  })
  receiver.on('error', error => tap.destroy(error))
  return tap
}
