import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Client } from 'ldapts'
import type { LdapConfig } from './ldap-config.ts'
import { requestStartTls } from './start-tls.ts'

/**
 * Runs `work` on a new connection and closes it: a connection bound as a user must not be used for
 * anything else. Throws the reason of the signal if `work` exceeds the timeout of the provider.
 */
export async function withDirectory<T>(
  config: LdapConfig,
  outer: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(config.timeoutMs)])
  signal.throwIfAborted()
  const raw = connect({ host: config.host, port: config.port })
  // Handles errors between requests, which would otherwise end the process.
  raw.on('error', () => undefined)
  const abort = () => raw.destroy(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    const socket = await secure(raw, config)
    const sockets = [socket]
    const client = new Client({
      url: 'ldap://directory',
      timeout: config.timeoutMs,
      createConnection: () => {
        const [next] = sockets.splice(0)
        // The library reconnects when a connection is lost, but without TLS.
        if (next === undefined) throw new Error('lost the connection to the LDAP server')
        return next
      },
    })
    return await work(client)
  } catch (error) {
    // The reason of the signal is more specific than the error of the closed socket.
    if (signal.aborted) throw signal.reason
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
    raw.destroy()
  }
}

async function secure(raw: Socket, config: LdapConfig): Promise<Socket> {
  await waitForConnection(raw, 'connect')
  if (config.security === 'none') return raw
  if (config.security === 'starttls') await requestStartTls(raw)
  const { ca, isVerified } = config.trust
  const socket = connectTls({
    socket: raw,
    // The certificate must be valid for this name. SNI must not be an IP address (RFC 6066).
    host: config.host,
    ...(isIP(config.host) === 0 ? { servername: config.host } : {}),
    ...(ca === undefined ? {} : { ca }),
    rejectUnauthorized: isVerified,
  })
  socket.on('error', () => undefined)
  raw.once('close', () => socket.destroy())
  await waitForConnection(socket, 'secureConnect')
  return socket
}

function waitForConnection(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const closed = () => reject(new Error('the LDAP server closed the connection'))
  socket.once(event, resolve).once('error', reject).once('close', closed)
  return promise.finally(() => socket.off(event, resolve).off('error', reject).off('close', closed))
}
