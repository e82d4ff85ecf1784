import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { unauthorized } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { tlsSocketOf } from '../httpserver/tls-socket.ts'
import type { AuthenticationConfig } from './authentication-config.ts'
import type { Authenticator } from './authenticator.ts'
import {
  assertNoPeerCertificate,
  commonName,
  isTrusted,
  readPeerChain,
  subjectValues,
  userId,
} from './certificate-chain.ts'

/** Returns the SHA-256 digest of a certificate in hexadecimal digits. */
const digest = ({ fingerprint256 }: X509Certificate) => fingerprint256.replaceAll(':', '').toLowerCase()

// Closes the connection, since a CA that was added after the handshake applies to the next one.
const untrusted = () =>
  unauthorized('the client certificate is invalid, or signed by an unknown authority', {
    connection: 'close',
  })

type Verdict = {
  readonly config: AuthenticationConfig
  readonly identity: Identity | null
  readonly untilMs: number
}

/**
 * Authenticates client certificates of the client CA of the cluster. The user name is the common
 * name, the groups are the organizations.
 */
export function createClientCertificateAuthenticator(
  config: () => AuthenticationConfig | undefined,
): Authenticator {
  const verdicts = new WeakMap<object, Verdict>()
  return {
    name: 'client-certificate',
    authenticate(req: IncomingMessage) {
      const current = config()
      if (current === undefined) {
        assertNoPeerCertificate(req)
        return null
      }
      const connection = tlsSocketOf(req)
      if (connection === undefined) return null
      const known = verdicts.get(connection)
      if (known?.config === current && Date.now() <= known.untilMs) return known.identity
      const chain = readPeerChain(req)
      const [leaf] = chain
      if (leaf === undefined) {
        // The missing certificate is cached too: reading it from TLS for each request would cost
        // more than all other steps.
        verdicts.set(connection, { config: current, identity: null, untilMs: Number.POSITIVE_INFINITY })
        return null
      }
      if (!isTrusted(req, chain, current.clientAuthorities, Date.now())) throw untrusted()
      const username = commonName(leaf)
      if (username === '') throw unauthorized('the client certificate has no common name')
      const extra = { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest(leaf)}`] }
      const identity: Identity = { username, uid: userId(leaf), groups: subjectValues(leaf, 'O'), extra }
      verdicts.set(connection, { config: current, identity, untilMs: leaf.validToDate.getTime() })
      return identity
    },
  }
}
