import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { unauthorized, unavailable } from '../apierrors/status.ts'
import { splitCertificates } from '../certs/pem.ts'
import { tlsSocketOf } from '../httpserver/tls-socket.ts'

export type Chain = readonly X509Certificate[]

const clientAuth = '1.3.6.1.5.5.7.3.2'
const anyUsage = '2.5.29.37.0'
const maxDepth = 5

/**
 * The certificate chain of the peer, its own certificate first. TLS has verified that the peer owns
 * the key of the first one, but not who issued it.
 */
export function readPeerChain(req: IncomingMessage): Chain {
  const leaf = tlsSocketOf(req)?.getPeerX509Certificate()
  if (leaf === undefined) return []
  const chain: X509Certificate[] = [leaf]
  for (let next = leaf.issuerCertificate; next && chain.length < maxDepth; next = next.issuerCertificate) {
    // A self-signed CA names itself as its issuer.
    if (chain.some(known => known.fingerprint256 === next?.fingerprint256)) break
    chain.push(next)
  }
  return chain
}

/**
 * Fails for a client certificate while the client CAs have not been loaded: its caller must not
 * become anonymous.
 *
 * @throws Status 503
 */
export function assertNoPeerCertificate(req: IncomingMessage): void {
  if (tlsSocketOf(req)?.getPeerX509Certificate() !== undefined)
    throw unavailable('the client CA certificates have not been loaded from kube-apiserver yet; retry later')
}

/** Parses the certificates of a PEM bundle. @throws Error if one is invalid */
export function parseBundle(pem: string): readonly X509Certificate[] {
  return splitCertificates(pem).map(block => new X509Certificate(block))
}

/**
 * Returns whether the chain leads to one of the CAs by signature, is within its validity and may be
 * used for client authentication (RFC 5280 section 6).
 */
export function isTrusted(chain: Chain, authorities: readonly X509Certificate[], nowMs: number): boolean {
  const [leaf] = chain
  if (leaf === undefined || !isInTime(leaf, nowMs) || !isForClients(leaf)) return false
  let current = leaf
  for (let depth = 0; depth < maxDepth; depth++) {
    if (authorities.some(authority => isInTime(authority, nowMs) && isIssuedBy(current, authority)))
      return true
    const issuer = chain.find(
      other => other !== current && other.ca && isInTime(other, nowMs) && isIssuedBy(current, other),
    )
    if (issuer === undefined) return false
    current = issuer
  }
  return false
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}

function isInTime(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime()
}

/** Kubernetes demands the client usage; a certificate that names no usages at all is for any. */
function isForClients({ keyUsage }: X509Certificate): boolean {
  // Node.js names extended key usages keyUsage.
  const usages: readonly string[] | undefined = keyUsage
  return usages === undefined || usages.includes(clientAuth) || usages.includes(anyUsage)
}

/**
 * Returns the common name, or ''. If there are several the last one counts, as in crypto/x509 of Go
 * and so in kube-apiserver.
 */
export function commonName(certificate: X509Certificate): string {
  return subjectValues(certificate, 'CN').at(-1) ?? ''
}

/** The attribute from which Kubernetes 1.33 and later reads the uid. */
const userIdAttribute = '1.3.6.1.4.1.57683.2'

/**
 * Returns the uid, or ''.
 *
 * @throws Status 401 for several or an empty one, as in kube-apiserver
 */
export function userId(certificate: X509Certificate): string {
  const values = subjectValues(certificate, userIdAttribute)
  if (values.length > 1 || values[0] === '')
    throw unauthorized('the client certificate must have at most one user ID, and it must not be empty')
  return values[0] ?? ''
}

/** Returns the values of an attribute of the subject, such as CN or O, in order. */
export function subjectValues(
  certificate: X509Certificate,
  attribute: 'CN' | 'O' | typeof userIdAttribute,
): readonly string[] {
  const subject: Readonly<Record<string, unknown>> = { ...certificate.toLegacyObject().subject }
  const value = subject[attribute]
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}
