import type { IncomingMessage, Server } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'

/** Connections on which no request was sent yet. */
export type UnusedConnections = { readonly close: () => void }

/**
 * Tracks connections on which no request was sent yet. Go opens such connections when it races two
 * dials, and may never use them. Node.js treats them as busy, since a request could arrive:
 * `closeIdleConnections` ignores them and `close` waits for them.
 */
export function trackUnusedConnections(server: Server | HttpsServer): UnusedConnections {
  const sockets = new Set<Socket>()
  const opened = (socket: Socket) => {
    // HTTP/2 sessions are closed with GOAWAY.
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
