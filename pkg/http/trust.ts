import { X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

const pemBlock = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED )?CERTIFICATE-----/g

/**
 * Returns the CAs to verify servers with: only those of `pem`, or the system's (SSL_CERT_FILE,
 * SSL_CERT_DIR) and those of NODE_EXTRA_CA_CERTS.
 *
 * @param pem '' for the system's
 */
export function createTrust(pem: string): SecureContext {
  return createSecureContext({ ca: pem === '' ? systemCertificates() : [pem] })
}

/** Those that Node.js brings along stand in where the system has none, as in a small container. */
function systemCertificates(): string[] {
  const system = getCACertificates('system')
  const found = system.length > 0 ? system : getCACertificates('bundled')
  // A file and a folder of certificates often hold the same ones, which take long to parse.
  return [...new Set([...found, ...getCACertificates('extra')])]
}

/** @throws Error when a text is not PEM with at least one certificate */
export function assertCertificates(pem: string): void {
  const blocks = pem.match(pemBlock) ?? []
  if (blocks.length === 0) throw new Error('no PEM certificate found')
  for (const block of blocks) {
    try {
      new X509Certificate(block)
    } catch {
      throw new Error('invalid PEM certificate')
    }
  }
}
