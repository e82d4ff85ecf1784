import { Transform } from 'node:stream'
import { Receiver } from 'ws'

export type TapOptions = {
  /** Which side of the connection sends what passes. */
  readonly sender: 'client' | 'server'
  /** The connection is broken by a larger message. */
  readonly maxMessageBytes: number
  /** Handles a whole message; what follows it does not pass before the promise resolves. */
  readonly receive: (message: Buffer) => Promise<void> | undefined
}

// Of one message: each takes memory of its own, however small it is.
const [maxFragments, maxBufferedChunks] = [1_000, 16_384]

/**
 * Creates a stream that passes one direction of a WebSocket connection on unchanged, and reads its
 * messages (RFC 6455). It fails for what is not a valid frame, and if `receive` does.
 */
export function createWebSocketTap({ sender, maxMessageBytes, receive }: TapOptions): Transform {
  const limits = { maxPayload: maxMessageBytes, maxFragments, maxBufferedChunks }
  const receiver = new Receiver({ isServer: sender === 'client', ...limits })
  let handled: (Promise<void> | undefined)[] = []
  receiver.on('message', (message: Buffer) => {
    const handling = receive(message)
    // An invalid frame after it ends the stream without waiting.
    handling?.catch(() => undefined)
    handled.push(handling)
  })
  const tap = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      handled = []
      // The parser unmasks in place.
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
