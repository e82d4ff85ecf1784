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

/** Times in milliseconds. */
export type PoolOptions = {
  /** Maximum number of connections; further requests wait. 0 for no limit. */
  readonly connections: number
  readonly connectMs: number
  /** From the end of a request to the head of its response; 0 is without limit. */
  readonly headMs: number
  /** Between two pieces of a body; 0 is without limit. */
  readonly bodyMs: number
  /** How long an idle connection is kept; less if the server says so. */
  readonly idleMs: number
  /** Maximum total size of the header names and values of a response. */
  readonly maxHeadBytes: number
  /** Path of a Unix socket at which the server listens. */
  readonly socketPath?: string
}

/**
 * Creates a pool of HTTP/1.1 connections to one server, with one request at a time on each, so that
 * a slow response or a watch does not block others.
 *
 * @param server the path of its URL is ignored
 */
export function createPool(server: URL, tls: TlsOptions, options: PoolOptions): Dispatcher {
  return new Pool(server.origin, toUndici(tls, options))
}

/**
 * Creates a pool for any servers, with `connections` to each. Servers with a proxy in the
 * environment are reached through it, and the proxy resolves their names: `tls.lookup` only applies
 * to the others.
 *
 * @throws Error for an invalid proxy in the environment
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

  constructor(server: URL, options: PoolOptions) {
    this.#server = server
    this.#options = options
  }

  /** @param tls must be the same object while nothing in it changes */
  use(tls: TlsOptions): Dispatcher {
    if (this.#current?.tls === tls) return this.#current.pool
    // Requests in progress on the old pool are completed.
    void this.#current?.pool.close()
    const pool = createPool(this.#server, tls, this.#options)
    this.#current = { tls, pool }
    return pool
  }

  /** Breaks every request off. */
  destroy(): void {
    void this.#current?.pool.destroy()
  }
}
