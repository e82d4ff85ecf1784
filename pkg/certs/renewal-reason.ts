import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { KeyPair } from './issue.ts'

export type Names = { readonly dnsNames: readonly string[]; readonly ipAddresses: readonly string[] }

// A third of the lifetime is left, enough time to notice that renewal fails.
const renewAfterFraction = 2 / 3

/** Reports whether a certificate is valid for a host, by DNS name or IP address (RFC 9525). */
export function isForHost(certPem: string, host: string): boolean {
  const certificate = new X509Certificate(certPem)
  const address = host.replace(/^\[|\]$/g, '')
  return isIP(address) === 0
    ? certificate.checkHost(host) !== undefined
    : certificate.checkIP(address) !== undefined
}

/** Returns why a certificate must be replaced. @param caPem the CA of the other side */
export function renewalReason(
  pair: KeyPair,
  caPem: string,
  required: { names: Names; nowMs: number },
): string | undefined {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(pair.certPem)
    if (!certificate.checkPrivateKey(createPrivateKey(pair.keyPem))) return 'the private key does not match'
  } catch {
    return 'it cannot be read'
  }
  const ca = new X509Certificate(caPem)
  if (!certificate.checkIssued(ca) || !certificate.verify(ca.publicKey)) return 'it was issued by another CA'
  const { names, nowMs } = required
  const missing = [
    ...names.dnsNames.filter(name => certificate.checkHost(name) === undefined),
    ...names.ipAddresses.filter(address => certificate.checkIP(address) === undefined),
  ]
  if (missing.length > 0) return `it is not valid for ${missing.join(', ')}`
  const from = certificate.validFromDate.getTime()
  const until = certificate.validToDate.getTime()
  return nowMs > from + (until - from) * renewAfterFraction ? 'it is due for renewal' : undefined
}
