import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

export type SilentPort = { readonly port: number; readonly stop: () => Promise<void> }

const program = `
const server = require('node:net').createServer()
server.listen({ host: process.argv[1], port: 0, backlog: 1 }, () => console.log(server.address().port))
`
const respondsWithinMs = 1_000
const maxConnections = 50

/**
 * Opens a port that drops packets, like behind a firewall, so that clients wait for their timeout.
 * It belongs to a stopped process with a full accept queue, for which the kernel drops new
 * connections.
 */
export async function startSilentPort(address: string): Promise<SilentPort> {
  const child = spawn(process.execPath, ['-e', program, address], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  const port = Number(line)
  child.kill('SIGSTOP')
  const sockets: Socket[] = []
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  for (let i = 0; i < maxConnections; i++) {
    const socket = connect(port, address)
    socket.on('error', () => undefined)
    sockets.push(socket)
    await Promise.race([once(socket, 'connect'), sleep(respondsWithinMs)])
    // Waits a turn: on a busy machine, the timeout may fire before this process has checked its
    // sockets.
    await nextTurn()
    if (socket.connecting) return { port, stop }
  }
  await stop()
  throw new Error(`${address}:${port} still accepts connections after ${maxConnections} unaccepted ones`)
}
