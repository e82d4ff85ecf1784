import { Client } from '@opensearch-project/opensearch'
import { type ProxyFor, readHttpProxy } from '../../http/proxy-environment.ts'

export type SearchEngine = {
  readonly url: string
  readonly username: string
  /** CA certificate of the server in PEM; '' for those of the system. */
  readonly ca: string
}

export type SearchCredentials = { readonly password: string; readonly apiKey: string }

export type Transport = {
  readonly request: Client['transport']['request']
  readonly close: () => Promise<void>
}

/**
 * Creates the transport of the official client. Its methods for single APIs are not used, because
 * requests differ between OpenSearch and Elasticsearch.
 */
export function createTransport(
  engine: SearchEngine,
  credentials: SearchCredentials,
  proxyFor?: ProxyFor,
): Transport {
  const proxy = readHttpProxy(new URL(engine.url), proxyFor)
  const client = new Client({
    node: engine.url,
    // The caller decides about retries: a batch that is sent twice could be stored twice.
    maxRetries: 0,
    requestTimeout: 30_000,
    ...(proxy === undefined ? {} : { proxy }),
    ...(engine.ca === '' ? {} : { ssl: { ca: engine.ca } }),
    ...(engine.username === ''
      ? {}
      : { auth: { username: engine.username, password: credentials.password } }),
    ...(credentials.apiKey === '' ? {} : { headers: { authorization: `ApiKey ${credentials.apiKey}` } }),
  })
  return {
    request: client.transport.request.bind(client.transport),
    close: () => client.close(),
  }
}
