import { createServer } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueCertificate } from '../../pkg/certs/issue.ts'
import { toDiscovery } from '../../pkg/oauth/server/discovery.ts'
import type { Pki } from './pki.ts'

const askedWithinMs = 3000

/**
 * Serves the discovery document of the token issuer while kube-apiserver starts: kube-apiserver
 * fetches it once at its start, and then only every ten seconds, during which it would reject all
 * tokens.
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
    /** Settles when kube-apiserver has sent a request, or when none is expected any more. */
    asked: Promise.race([promise, sleep(askedWithinMs, undefined, { ref: false })]),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
