import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../telemetry/logger.ts'

export type ShutdownOptions = {
  readonly probes: { readonly drain: () => void }
  /** Ends watches and tails, which would continue for ever. */
  readonly longRunning: readonly { readonly close: () => void }[]
  /** Connections of each server without a request. */
  readonly unused: readonly { readonly close: () => void }[]
  readonly delaySeconds: number
  readonly logger: Logger
}

const drainMs = 60_000
const sweepMs = 100
// A connection that was opened last may have its first request in transit.
const firstRequestMs = 1_000

/**
 * Fails /readyz first, then closes the listener, then ends watches and tails, then waits for the
 * remaining responses. From the start, every response closes its connection, so that clients with
 * keep-alive connections move to another server and are not cut off in the middle of a request.
 */
export async function shutDownGracefully(
  servers: readonly Server[],
  { probes, longRunning: endless, unused: unasked, delaySeconds, logger }: ShutdownOptions,
): Promise<void> {
  logger.info({ delaySeconds }, 'shutting down')
  probes.drain()
  for (const server of servers) server.prependListener('request', closeAfter)
  await sleep(delaySeconds * 1000)
  const closed = servers.map(server => new Promise<void>(resolve => server.close(() => resolve())))
  for (const part of endless) part.close()
  // A connection becomes idle only after its last response, and kube-apiserver keeps idle
  // connections open for long.
  const began = performance.now()
  const sweep = setInterval(() => {
    for (const server of servers) server.closeIdleConnections()
    if (performance.now() - began > firstRequestMs) for (const part of unasked) part.close()
  }, sweepMs)
  const isDrained = await Promise.race([
    Promise.all(closed).then(() => true),
    sleep(drainMs, false, { ref: false }),
  ])
  clearInterval(sweep)
  if (!isDrained) for (const server of servers) server.closeAllConnections()
}

function closeAfter(_req: IncomingMessage, res: ServerResponse): void {
  res.shouldKeepAlive = false
}
