import { Agent, type Dispatcher, request } from 'undici'
import { createTrust } from './ca-certificates.ts'
import { EnvironmentProxyAgent } from './proxy-agent.ts'
import { readProxyEnvironment } from './proxy-environment.ts'
import { readBody } from './read-body.ts'

export type HttpSettings = {
  /** PEM of the trusted CAs; '' for those of the system. */
  readonly ca: string
  /** Environment variables, of which HTTPS_PROXY, HTTP_PROXY and NO_PROXY are used. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Timeout from the connection to the end of the response; 30 s by default. */
  readonly timeoutMs?: number
  /** Maximum size of a response body; 16 MiB by default. */
  readonly maxBytes?: number
}

export type HttpRequest = {
  readonly method?: Dispatcher.HttpMethod
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

export type HttpResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/** An HTTP client that uses the proxies of the environment and does not follow redirects. */
export class HttpClient {
  readonly #dispatcher: Dispatcher
  readonly #settings: Required<HttpSettings>

  /** @throws Error for an invalid proxy URL */
  constructor(settings: HttpSettings) {
    this.#settings = { timeoutMs: 30_000, maxBytes: 16 * 1024 * 1024, ...settings }
    const { ca, env, timeoutMs: connectMs } = this.#settings
    const tls = { secureContext: createTrust(ca) }
    const direct = new Agent({ connect: { ...tls, timeout: connectMs }, allowH2: false })
    this.#dispatcher = new EnvironmentProxyAgent({
      ...{ proxyFor: readProxyEnvironment(env), direct, tls, connectMs },
    })
  }

  /**
   * Sends a request and reads the whole response.
   *
   * @throws Error on failure or timeout; {@link describeFailure} converts it to a message for users
   */
  async send(url: URL, { method = 'GET', headers, body, signal }: HttpRequest = {}): Promise<HttpResponse> {
    const { timeoutMs, maxBytes } = this.#settings
    const deadline = AbortSignal.timeout(timeoutMs)
    const response = await request(url, {
      method,
      headers: { ...headers },
      body: body ?? null,
      dispatcher: this.#dispatcher,
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      // The signal limits the whole exchange, including the body.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const text = (await readBody(response.body, maxBytes)).toString('utf8')
    return { status: response.statusCode, headers: response.headers, text }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy()
  }
}
