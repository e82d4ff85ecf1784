import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { unauthorized, unavailable } from '../apierrors/status.ts'
import { splitCertificates } from '../certs/pem.ts'
import { tlsSocketOf } from '../httpserver/tls-socket.ts'

export type Chain = readonly X509Certificate[]

const maxDepth = 5

/**
 * Returns the certificate chain of the peer, its own certificate first. TLS has verified that the
 * peer has the private key.
 */
export function readPeerChain(req: IncomingMessage): Chain {
  const leaf = tlsSocketOf(req)?.getPeerX509Certificate()
  if (leaf === undefined) return []
  const chain: X509Certificate[] = [leaf]
  for (let next = leaf.issuerCertificate; next && chain.length < maxDepth; next = next.issuerCertificate) {
    // The issuer of a self-signed CA is the CA itself.
    if (chain.some(known => known.fingerprint256 === next?.fingerprint256)) break
    chain.push(next)
  }
  return chain
}

/** Rejects client certificates while the client CAs are not loaded. @throws Status 503 */
export function assertNoPeerCertificate(req: IncomingMessage): void {
  if (tlsSocketOf(req)?.getPeerX509Certificate() !== undefined)
    throw unavailable('the client CA certificates have not been loaded from kube-apiserver yet; retry later')
}

/** Parses the certificates of a PEM bundle. @throws Error if one is invalid */
export function parseBundle(pem: string): readonly X509Certificate[] {
  return splitCertificates(pem).map(block => new X509Certificate(block))
}

/**
 * Reports whether one of the CAs has issued the certificate of the peer. OpenSSL has validated the
 * chain during the handshake (RFC 5280 section 6: critical extensions, usages, path length, weak
 * signatures), but for all CAs of the listener, as they were then.
 */
export function isTrusted(
  req: IncomingMessage,
  chain: Chain,
  cas: readonly X509Certificate[],
  nowMs: number,
): boolean {
  const [leaf] = chain
  if (tlsSocketOf(req)?.authorized !== true || leaf === undefined || !isInTime(leaf, nowMs)) return false
  let current = leaf
  for (let depth = 0; depth < maxDepth; depth++) {
    if (cas.some(ca => isInTime(ca, nowMs) && isIssuedBy(current, ca))) return true
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

/** Returns the last common name, as Go's crypto/x509 and kube-apiserver do; or ''. */
export function commonName(certificate: X509Certificate): string {
  return subjectValues(certificate, 'CN').at(-1) ?? ''
}

/** OID of the subject attribute from which Kubernetes 1.33 and later reads the uid. */
const userIdAttribute = '1.3.6.1.4.1.57683.2'

/** Returns the uid, or ''. @throws Status 401 for several or an empty one, as in kube-apiserver */
export function userId(certificate: X509Certificate): string {
  const values = subjectValues(certificate, userIdAttribute)
  if (values.length > 1 || values[0] === '')
    throw unauthorized('the client certificate must have at most one user ID, and it must not be empty')
  return values[0] ?? ''
}

/** Returns the values of a subject attribute, such as CN or O, in order. */
export function subjectValues(
  certificate: X509Certificate,
  attribute: 'CN' | 'O' | typeof userIdAttribute,
): readonly string[] {
  const subject: Readonly<Record<string, unknown>> = { ...certificate.toLegacyObject().subject }
  const value = subject[attribute]
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}
