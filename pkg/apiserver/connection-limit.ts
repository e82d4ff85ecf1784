import type { Server, Socket } from 'node:net'

/**
 * Limits how many connections there are. At the limit the address with the most of them gives way: its newest connection is closed
 * for one from elsewhere, and its own new ones are refused, so that no client can lock out the others.
 *
 * @param most as configured now; 0 is no limit
 */
export function limitConnections(server: Server, most: () => number): void {
  const byAddress = new Map<string, Set<Socket>>()
  let count = 0

  function largest(): Set<Socket> | undefined {
    let found: Set<Socket> | undefined
    for (const sockets of byAddress.values()) if (sockets.size > (found?.size ?? 0)) found = sockets
    return found
  }

  function add(address: string, socket: Socket): void {
    const sockets = byAddress.get(address) ?? new Set()
    byAddress.set(address, sockets.add(socket))
    count++
    socket.once('close', () => {
      count--
      sockets.delete(socket)
      if (sockets.size === 0) byAddress.delete(address)
    })
  }

  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const isFull = most() > 0 && count >= most()
    add(address, socket)
    if (!isFull) return
    const last = [...(largest() ?? [])].at(-1)
    last?.destroy()
  })
}
