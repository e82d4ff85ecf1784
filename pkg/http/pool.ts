import type { ConnectionOptions } from 'node:tls'
import { Agent, type Dispatcher, Pool } from 'undici'
import { EnvironmentProxyAgent } from './proxy-agent.ts'
import { type ProxyFor, readProxyEnvironment } from './proxy-environment.ts'

export type { Dispatcher } from 'undici'

/** TLS settings; not needed for plain HTTP. */
export type TlsOptions = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'passphrase' | 'pfx' | 'servername' | 'rejectUnauthorized' | 'lookup'
>

/** Limits of a pool; times are in milliseconds. */
export type PoolOptions = {
  /** Maximum number of connections, beyond which requests wait; 0 for no limit. */
  readonly connections: number
  readonly connectMs: number
  /** Timeout from the end of a request to the response headers; 0 for none. */
  readonly headMs: number
  /** Timeout between two chunks of a body; 0 for none. */
  readonly bodyMs: number
  /** Time for which an idle connection is kept, unless the server requests less. */
  readonly idleMs: number
  /** Maximum total size of the header names and values of a response. */
  readonly maxHeadBytes: number
  /** Path of the Unix socket on which the server listens. */
  readonly socketPath?: string
}

/**
 * Creates a pool of HTTP/1.1 connections to one server. Each connection carries one request at a
 * time, so that a slow response or a watch does not block others.
 *
 * @param server URL of the server; its path is ignored
 */
export function createPool(server: URL, tls: TlsOptions, options: PoolOptions): Dispatcher {
  return new Pool(server.origin, toUndici(tls, options))
}

/**
 * Creates a pool for any servers, with up to `connections` connections to each. Servers for which
 * the environment has a proxy are reached through that proxy, which resolves their names;
 * `tls.lookup` only applies to direct connections.
 *
 * @throws Error for an invalid proxy URL in the environment
 */
export function createAgent(
  tls: TlsOptions,
  options: Omit<PoolOptions, 'socketPath'>,
  proxyFor: ProxyFor = readProxyEnvironment(process.env),
): Dispatcher {
  const { connect, ...pool } = toUndici(tls, options)
  const direct = new Agent({ connect, ...pool })
  return new EnvironmentProxyAgent({ proxyFor, direct, tls, connectMs: options.connectMs, pool })
}

function toUndici(
  tls: TlsOptions,
  { connections, connectMs, headMs, bodyMs, idleMs, maxHeadBytes, socketPath }: PoolOptions,
) {
  return {
    connections,
    allowH2: false,
    connect: { ...tls, timeout: connectMs, ...(socketPath === undefined ? {} : { socketPath }) },
    headersTimeout: headMs,
    bodyTimeout: bodyMs,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    maxHeaderSize: maxHeadBytes,
  }
}

/** A pool for a server whose CAs and client certificate may change. */
export class ReloadingPool {
  readonly #server: URL
  readonly #options: PoolOptions
  #current: { readonly tls: TlsOptions; readonly pool: Dispatcher } | undefined
  #isDestroyed = false

  constructor(server: URL, options: PoolOptions) {
    this.#server = server
    this.#options = options
  }

  /** Returns the pool for the TLS settings. @param tls the same object while none changes */
  use(tls: TlsOptions): Dispatcher {
    if (this.#current?.tls === tls) return this.#current.pool
    // Requests in progress on the old pool can complete.
    void this.#current?.pool.close()
    const pool = createPool(this.#server, tls, this.#options)
    this.#current = { tls, pool }
    if (this.#isDestroyed) void pool.destroy()
    return pool
  }

  /** Aborts all requests, and makes later ones fail. */
  destroy(): void {
    this.#isDestroyed = true
    void this.#current?.pool.destroy()
  }
}
