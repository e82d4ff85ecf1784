import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../telemetry/logger.ts'

export type ShutdownOptions = {
  readonly probes: { readonly drain: () => void }
  /** Parts with watches and tails, which must be closed because they do not end by themselves. */
  readonly longRunning: readonly { readonly close: () => void }[]
  /** Connections of each server on which no request was sent yet. */
  readonly unused: readonly { readonly close: () => void }[]
  readonly delaySeconds: number
  readonly logger: Logger
}

const drainMs = 60_000
const sweepMs = 100
// The first request of the newest connection may still be in transit.
const firstRequestMs = 1_000

/**
 * First makes /readyz fail, then closes the listener, then ends watches and tails, then waits for
 * the remaining responses. From the start, every response closes its connection, so that clients
 * with keep-alive connections move to another server without losing a request.
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
  // The check is repeated: a connection becomes idle only after its last response, and
  // kube-apiserver keeps idle connections open for a long time.
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
