import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { portOf } from '../apirequest/fixtures.ts'
import { createPool, type Dispatcher, type PoolOptions } from '../http/pool.ts'

/** A server that responds with raw bytes, which node:http would not send. */
export type RawUpstream = {
  readonly pool: Dispatcher
  /** All connections that have been opened. */
  readonly sockets: readonly Socket[]
  /** Called with the received data, as latin1. */
  respond: (text: string, socket: Socket) => void
  readonly close: () => Promise<void>
}

export async function startRawUpstream(options: Partial<PoolOptions> = {}): Promise<RawUpstream> {
  const sockets: Socket[] = []
  const server = createServer({ noDelay: true }, socket => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', chunk => upstream.respond(chunk.toString('latin1'), socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const usual = { connections: 4, connectMs: 5_000, headMs: 5_000, bodyMs: 5_000, idleMs: 30_000 }
  const url = new URL(`http://127.0.0.1:${portOf(server)}`)
  const pool = createPool(url, {}, { ...usual, maxHeadBytes: 16_384, ...options })
  const upstream: RawUpstream = {
    pool,
    sockets,
    respond: () => undefined,
    async close() {
      await pool.destroy()
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return upstream
}

/** Writes each piece separately, so that the pieces most likely arrive one by one. */
export async function writePieces(socket: Socket, pieces: readonly (string | Buffer)[]): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return
    socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
    await turn()
    await turn()
  }
}
