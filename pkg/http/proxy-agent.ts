import { Dispatcher, ProxyAgent } from 'undici'
import { createTrust } from './ca-certificates.ts'
import type { ProxyFor } from './proxy-environment.ts'

export type ProxyAgentOptions = {
  readonly proxyFor: ProxyFor
  /** Dispatcher for servers that are not reached through a proxy. */
  readonly direct: Dispatcher
  /** TLS options for connections to servers through a proxy. */
  readonly tls: object
  readonly connectMs: number
  /** Other options of undici's Pool for servers behind a proxy. */
  readonly pool?: object
}

/** Sends each request through the proxy that the environment defines for its URL, or directly. */
export class EnvironmentProxyAgent extends Dispatcher {
  readonly #options: ProxyAgentOptions
  /** Proxy agents by proxy URL; the environment defines two at most. */
  readonly #agents = new Map<string, ProxyAgent>()

  constructor(options: ProxyAgentOptions) {
    super()
    this.#options = options
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (options.origin === undefined) throw new Error('a request through a proxy needs an origin')
    const proxy = this.#options.proxyFor(new URL(options.origin))
    const agent = proxy === undefined ? this.#options.direct : this.#agentOf(proxy)
    return agent.dispatch(options, handler)
  }

  override async close(): Promise<void> {
    await Promise.all(this.#all().map(agent => agent.close()))
  }

  override async destroy(): Promise<void> {
    await Promise.all(this.#all().map(agent => agent.destroy()))
  }

  #all(): readonly Dispatcher[] {
    return [this.#options.direct, ...this.#agents.values()]
  }

  #agentOf(proxy: URL): ProxyAgent {
    const known = this.#agents.get(proxy.href)
    if (known !== undefined) return known
    const { tls, connectMs, pool } = this.#options
    const agent = new ProxyAgent({
      ...pool,
      uri: proxy.href,
      requestTls: { ...tls, timeout: connectMs },
      // The certificate of the proxy itself is verified with the CAs of the system. With these
      // options, undici would use TLS to connect to a SOCKS proxy too.
      ...(proxy.protocol === 'https:'
        ? { proxyTls: { secureContext: createTrust(''), timeout: connectMs } }
        : {}),
      connectTimeout: connectMs,
      // Like Go, sends plain HTTP requests in absolute form, and uses CONNECT for TLS only.
      proxyTunnel: false,
      allowH2: false,
    })
    this.#agents.set(proxy.href, agent)
    return agent
  }
}
