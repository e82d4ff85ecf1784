import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/** The TLS connections of HTTP/2 streams, which are used as sockets of their requests. */
const carriers = new WeakMap<Duplex, TLSSocket>()

/** Associates a stream with its TLS connection, whose properties filters read. */
export function withTlsSocket(stream: Duplex, carrier: TLSSocket): Duplex {
  carriers.set(stream, carrier)
  const { remoteAddress, remotePort } = carrier
  return Object.assign(stream, { encrypted: true, remoteAddress, remotePort })
}

/** Returns the TLS connection of a request; undefined for plain HTTP. */
export function tlsSocketOf({ socket }: Pick<IncomingMessage, 'socket'>): TLSSocket | undefined {
  return socket instanceof TLSSocket ? socket : carriers.get(socket)
}
