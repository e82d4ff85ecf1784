import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { tryLock, unlock } from './lock-file.ts'

/** Below the ephemeral ports, so that no outgoing connection uses one of them. */
const range = { from: 20_000, to: 32_000 }

/**
 * Finds loopback ports, and reserves them against other control planes that start concurrently: a
 * program listens only seconds after its port was chosen. A reservation ends with its owner.
 */
export function createPortFinder() {
  const reserved = (port: number) => join(tmpdir(), `kapis-ports-${userInfo().uid}`, String(port))
  // Reserved before the test: the test listens on the port briefly, which could collide with the
  // start of another owner's program.
  const take = async (port: number) => {
    if (tryLock(reserved(port)) !== undefined) return false
    if (await isFree(port)) return true
    unlock(reserved(port))
    return false
  }
  const taken = new Set<number>()

  return {
    /** Returns the wanted port, or the next free port. */
    async near(preferred: number): Promise<number> {
      for (let port = preferred; port < preferred + 200 && port < 65_536; port += 1) {
        if (!taken.has(port) && (await take(port))) return claim(port)
      }
      throw new Error(`no free port from ${preferred} upwards`)
    },
    async any(): Promise<number> {
      for (let attempt = 0; attempt < 200; attempt += 1) {
        const port = range.from + Math.floor(Math.random() * (range.to - range.from))
        if (!taken.has(port) && (await take(port))) return claim(port)
      }
      throw new Error(`no free port between ${range.from} and ${range.to}`)
    },
    release(): void {
      for (const port of taken) unlock(reserved(port))
    },
  }

  function claim(port: number): number {
    taken.add(port)
    return port
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
