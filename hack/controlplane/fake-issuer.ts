import { createServer } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueCertificate } from '../../pkg/certs/issue.ts'
import { toDiscovery } from '../../pkg/oauth/server/discovery.ts'
import type { Pki } from './pki.ts'

const askedWithinMs = 3000

/**
 * Serves the discovery document of the token issuer while kube-apiserver starts. kube-apiserver
 * fetches it at startup, and then only every ten seconds: it would reject all tokens until then.
 */
export async function createFakeIssuer(pki: Pki, issuer: string, port: number) {
  const { certPem, keyPem } = issueCertificate(pki.kapis, {
    commonName: 'localhost',
    dnsNames: ['localhost'],
    usages: ['server'],
    validityDays: 1,
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  const server = createServer({ cert: certPem, key: keyPem }, (req, res) => {
    const found = new URL(`${issuer}/.well-known/openid-configuration`).pathname === req.url
    res.writeHead(found ? 200 : 404, { 'content-type': 'application/json', connection: 'close' })
    res.end(found ? JSON.stringify(toDiscovery(issuer)) : '{}', resolve)
  })
  await new Promise<void>((listening, failed) => {
    server.once('error', failed)
    server.listen(port, '127.0.0.1', listening)
  })
  return {
    /** Settles after the first request of kube-apiserver, or after a timeout. */
    asked: Promise.race([promise, sleep(askedWithinMs, undefined, { ref: false })]),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
