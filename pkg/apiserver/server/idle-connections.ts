import type { IncomingMessage, Server } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'

/** Connections on which nothing has been asked yet. */
export type UnusedConnections = { readonly close: () => void }

/**
 * Follows them: clients open connections ahead, Go's when it races two dials, and may never use them. Node counts such a one as
 * busy, as a request could be on its way, so that `closeIdleConnections` leaves it and `close` waits for it.
 */
export function trackUnusedConnections(server: Server | HttpsServer): UnusedConnections {
  const sockets = new Set<Socket>()
  const opened = (socket: Socket) => {
    // HTTP/2 has an end of its own, which its clients are told of.
    if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  server.on('setSecureContext' in server ? 'secureConnection' : 'connection', opened)
  const asked = ({ socket }: IncomingMessage) => sockets.delete(socket)
  server.on('request', asked)
  server.on('upgrade', asked)
  return {
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
