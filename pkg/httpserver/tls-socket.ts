import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/** TLS connections of requests without a socket of their own: streams of HTTP/2. */
const carriers = new WeakMap<Duplex, TLSSocket>()

/** Gives a stream the properties of the connection that carries it, which filters read. */
export function carriedBy(stream: Duplex, carrier: TLSSocket): Duplex {
  carriers.set(stream, carrier)
  const { remoteAddress, remotePort } = carrier
  return Object.assign(stream, { encrypted: true, remoteAddress, remotePort })
}

/** The TLS connection on which a request came; undefined for plain HTTP. */
export function tlsSocketOf({ socket }: Pick<IncomingMessage, 'socket'>): TLSSocket | undefined {
  return socket instanceof TLSSocket ? socket : carriers.get(socket)
}
