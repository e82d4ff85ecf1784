import type { Writable } from 'node:stream'

// The parser of WebSocket frames that the package exports; its type declarations leave it out.
declare module 'ws' {
  export class Receiver extends Writable {
    constructor(options: {
      readonly isServer: boolean
      readonly maxPayload: number
      readonly maxFragments: number
      readonly maxBufferedChunks: number
    })
  }
}
