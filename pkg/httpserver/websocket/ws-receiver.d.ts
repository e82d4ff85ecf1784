import type { Writable } from 'node:stream'

// The parser of WebSocket frames, which the package exports without type declarations.
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
