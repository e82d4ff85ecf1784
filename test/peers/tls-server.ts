import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { createCa, issueCertificate } from '../../pkg/certs/issue.ts'

const ca = createCa({ commonName: 'provider authority', validityDays: 1 })
const serving = issueCertificate(ca, {
  commonName: 'provider',
  dnsNames: ['localhost'],
  usages: ['server'],
  validityDays: 1,
})

/** PEM of the CA that signs the certificates of these servers. */
export const authorityPem = ca.certPem

/**
 * Starts an HTTPS server on a free loopback port. `toListener` receives its URL, which some
 * handlers need.
 */
export async function startTlsServer(toListener: (url: string) => RequestListener) {
  const server = createServer({ cert: serving.certPem, key: serving.keyPem })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = `https://localhost:${typeof address === 'object' && address !== null ? address.port : 0}`
  server.on('request', toListener(url))
  return {
    url,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
