import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { tryLock } from '../../../pkg/files/lock-file.ts'

/** Below the ephemeral ports, so that no outgoing connection uses one of them. */
const range = { from: 20_000, to: 32_000 }
const attempts = 200

/**
 * Finds loopback ports, and reserves them against other control planes that start concurrently: a
 * program listens only seconds after its port was chosen. A reservation ends with its owner.
 */
export function createPortFinder() {
  const folder = join(tmpdir(), `kapis-reserved-ports-${userInfo().uid}`)
  mkdirSync(folder, { recursive: true })
  const reservations = new Set<() => void>()

  /** Returns the first free port of `candidate`, which is called with the number of attempts. */
  async function find(candidate: (attempt: number) => number, where: string): Promise<number> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const port = candidate(attempt)
      // Reserved first, because isFree() listens on the port for a moment. Otherwise a program of
      // another control plane could fail to listen on it.
      const unlock = tryLock(join(folder, String(port)))
      if (unlock === undefined) continue
      if (await isFree(port)) {
        reservations.add(unlock)
        return port
      }
      unlock()
    }
    throw new Error(`no free port ${where}`)
  }

  return {
    /** Returns the wanted port, or the next free port. */
    near: (wanted: number) => find(attempt => wanted + attempt, `from ${wanted} upwards`),
    any: () =>
      find(
        () => range.from + Math.floor(Math.random() * (range.to - range.from)),
        `between ${range.from} and ${range.to}`,
      ),
    release(): void {
      for (const unlock of reservations) unlock()
      reservations.clear()
    },
  }
}

async function isFree(port: number): Promise<boolean> {
  // A listener on the wildcard address does not prevent a bind to loopback, so both are tested.
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, undefined))
}

function canListen(port: number, host: string | undefined): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => server.close(() => resolve(true)))
  })
}
