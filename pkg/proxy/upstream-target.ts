import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'

/** How an upstream is reached and how long it may take; 0 is without end. */
export type UpstreamTarget = {
  readonly url: URL
  readonly tls: UpstreamTls
  readonly connectMs: number
  /** To the head of an answer, once the other side has the request. */
  readonly headMs: number
  /** Between two pieces of an answer. */
  readonly bodyMs: number
  /** Without a request. */
  readonly idleMs: number
  readonly maxHeadBytes: number
}

type UpstreamTls = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>

type OnRead = { readonly buffer: Buffer; readonly callback: (size: number) => boolean }

/**
 * Connects, and reads into one buffer: a socket of its own stream would make one for each piece that comes in.
 *
 * @param opened called once requests can be sent; for HTTPS when the server has shown a certificate that is trusted
 */
export function connectTo({ url, tls }: UpstreamTarget, onread: OnRead, opened: () => void): Socket {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isSecure = url.protocol === 'https:'
  const port = Number(url.port) || (isSecure ? 443 : 80)
  if (!isSecure) return connectPlain({ host, port, onread }, opened)
  // An address is no name that a server could be asked for by (RFC 6066 section 3).
  const servername = tls.servername ?? (isIP(host) === 0 ? host : undefined)
  const rest = servername === undefined ? {} : { servername }
  // The types of tls do not have it, its documentation does.
  const options = { host, port, ...tls, ...rest, ALPNProtocols: ['http/1.1'], onread }
  return connectTls(options, opened)
}
