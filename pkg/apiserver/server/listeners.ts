import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Config } from '../../config/config.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { limitConnections } from './connection-limit.ts'
import { createHttp2Sessions } from './http2-sessions.ts'
import {
  createHttpListener,
  createHttpsListener,
  listen,
  type TlsMaterial,
  toUpgradeListener,
  updateTls,
} from './https-server.ts'

export type ListenersOptions = {
  readonly config: Config
  readonly logger: Logger
  readonly request: (req: IncomingMessage, res: ServerResponse) => void
  readonly upgrade: Parameters<typeof toUpgradeListener>[0]
  readonly tls: () => TlsMaterial
  /** Registers a callback for changes of the serving certificate or the client CAs. */
  readonly onTlsChange: (listener: () => void) => void
  /** Returns the maximum number of connections of each listener. */
  readonly maxConnections: () => number
}

export type Listeners = {
  readonly servers: readonly Server[]
  /** Connections of each server on which no request was sent yet. */
  readonly unused: readonly ReturnType<typeof trackUnusedConnections>[]
  readonly sessions: ReturnType<typeof createHttp2Sessions>
}

/** Opens the HTTPS listener, and that for plain HTTP if enabled. @throws Error for a used port */
export async function openListeners(options: ListenersOptions): Promise<Listeners> {
  const { config, logger, request, tls, onTlsChange, maxConnections } = options
  const upgrade = toUpgradeListener(options.upgrade)
  const sessions = createHttp2Sessions(request, config.limits)
  const secure = createHttpsListener(tls(), request, config.limits, {
    // The server name that the aggregator of kube-apiserver requests, regardless of the address.
    serverName: `${config.service.name}.${config.kubernetes.namespace}.svc`,
    accept: sessions.accept,
  })
  onTlsChange(() => updateTls(secure, tls()))
  const servers: Server[] = []
  const unused: ReturnType<typeof trackUnusedConnections>[] = []

  async function open(server: Server, at: { address: string; port: number }, message: string): Promise<void> {
    server.on('upgrade', upgrade)
    limitConnections(server, maxConnections)
    unused.push(trackUnusedConnections(server))
    servers.push(server)
    logger.info({ address: at.address, port: await listen(server, at.address, at.port) }, message)
  }

  await open(secure, config.listen, 'listening')
  if (config.http.enabled)
    await open(createHttpListener(request, config.limits), config.http, 'listening for plain HTTP')
  return { servers, unused, sessions }
}

/** Connections on which no request was sent yet. */
type UnusedConnections = { readonly close: () => void }

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
  const markUsed = ({ socket }: IncomingMessage) => sockets.delete(socket)
  server.on('request', markUsed)
  server.on('upgrade', markUsed)
  return {
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
