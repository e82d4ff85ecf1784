import { chmod, unlink } from 'node:fs/promises'
import type { RequestListener, Server } from 'node:http'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolders } from '../../files/make-folders.ts'
import { http } from '../../httpserver/node-http.ts'
import { isListening } from '../../httpserver/unix-socket.ts'

const stopWithinMs = 10_000
const formWithinMs = 20_000
const frontKilobytes = 16

/**
 * Listens on a Unix socket, only for kapis-apiserver. A stale socket of a crashed process is
 * removed; a socket in use is not.
 *
 * @param headerKilobytes limit of request headers in kapis-apiserver
 * @throws Error if the socket is in use or cannot be created
 */
export async function listenOnSocket(
  path: string,
  handler: RequestListener,
  headerKilobytes: number,
): Promise<Server> {
  makeFolders(dirname(path))
  if (await isListening(path)) throw new Error(`the socket ${path} is in use by another process`)
  await unlink(path).catch(error => {
    if (error.code !== 'ENOENT') throw error
  })
  const server = http.createServer(
    {
      // Longer than kapis-apiserver keeps idle connections: the client must close them, or requests
      // could fail.
      keepAliveTimeout: 130_000,
      // kapis-apiserver adds headers to requests that were within the limit, so the limit here must
      // be higher.
      maxHeaderSize: (headerKilobytes + frontKilobytes) * 1024,
      // A form has a few kilobytes. A slower upload would occupy a connection of kapis-apiserver.
      requestTimeout: formWithinMs,
      connectionsCheckingInterval: formWithinMs / 5,
    },
    handler,
  )
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(path, resolve)
  await promise
  server.off('error', reject)
  // kapis-apiserver runs in the same Pod with the same group; other processes need no access.
  await chmod(path, 0o660)
  return server
}

/** Waits for requests in progress for up to ten seconds, then closes all connections. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  server.closeIdleConnections()
  const hurry = new AbortController()
  // close() does not close connections that become idle later.
  const timer = setInterval(() => server.closeIdleConnections(), 100)
  const deadline = sleep(stopWithinMs, undefined, { signal: hurry.signal })
    .then(() => server.closeAllConnections())
    .catch(() => undefined)
  await closed
  clearInterval(timer)
  hurry.abort()
  await deadline
}
