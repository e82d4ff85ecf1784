import type { IncomingMessage } from 'node:http'
import type { Attributes } from '@opentelemetry/api'
import type { Peer } from './tracing.ts'

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE'])

// Attribute names are those of the OpenTelemetry semantic conventions for HTTP. The query string is
// omitted: it may contain an authorization code or token.

/** Returns the method, or `_OTHER` for unknown ones. */
export function toMethod(method: string | undefined): string {
  return method !== undefined && methods.has(method) ? method : '_OTHER'
}

export function serverAttributes({ headers, method, socket, httpVersion }: IncomingMessage): Attributes {
  const agent = headers['user-agent']
  return {
    'http.request.method': toMethod(method),
    'url.scheme': 'encrypted' in socket ? 'https' : 'http',
    'network.protocol.version': httpVersion,
    ...(agent === undefined ? {} : { 'user_agent.original': agent }),
  }
}

export function peerAttributes({ name, url, socket }: Peer): Attributes {
  if (url === undefined)
    return { 'peer.service': name, 'server.address': socket ?? '', 'network.transport': 'unix' }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  return { 'peer.service': name, 'server.address': url.hostname, 'server.port': port }
}
