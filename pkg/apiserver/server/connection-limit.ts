import type { Server, Socket } from 'node:net'

/** The connections of one address. */
type Source = {
  open: number
  /** Connections from oldest to newest, some of which may have closed. */
  sockets: Socket[]
}

/**
 * Limits the number of connections. At the limit, the address with the most connections cannot open
 * new ones. To accept a connection from another address, the newest connection of that address is
 * closed. No client can therefore lock out others. The cost does not grow with the number of
 * connections.
 *
 * @param maxConnections returns the current limit; 0 for no limit
 */
export function limitConnections(server: Server, maxConnections: () => number): void {
  const byAddress = new Map<string, Source>()
  /** Addresses by their number of open connections. */
  const bySize = new Map<number, Set<Source>>()
  let count = 0
  let largest = 0

  function resize(source: Source, change: 1 | -1): void {
    const before = bySize.get(source.open)
    before?.delete(source)
    if (before?.size === 0) bySize.delete(source.open)
    const isLargest = source.open === largest
    source.open += change
    count += change
    if (source.open > 0) bySize.set(source.open, (bySize.get(source.open) ?? new Set()).add(source))
    if (source.open > largest || (isLargest && !bySize.has(largest))) largest = source.open
  }

  function add(address: string, socket: Socket): void {
    const source = byAddress.get(address) ?? { open: 0, sockets: [] }
    byAddress.set(address, source)
    source.sockets.push(socket)
    resize(source, 1)
    socket.once('close', () => {
      resize(source, -1)
      if (source.open === 0) byAddress.delete(address)
      else if (source.sockets.length > 2 * source.open + 16)
        source.sockets = source.sockets.filter(({ destroyed }) => !destroyed)
    })
  }

  function closeNewest(): void {
    const [source] = bySize.get(largest) ?? []
    for (let last = source?.sockets.pop(); last !== undefined; last = source?.sockets.pop()) {
      if (last.destroyed) continue
      last.destroy()
      return
    }
  }

  server.prependListener('connection', (socket: Socket) => {
    const isFull = maxConnections() > 0 && count >= maxConnections()
    add(socket.remoteAddress ?? '', socket)
    if (isFull) closeNewest()
  })
}
