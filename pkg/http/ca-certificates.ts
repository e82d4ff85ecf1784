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

/** The CAs of Node.js are used if the system has none, as in a small container. */
function systemCertificates(): string[] {
  const system = getCACertificates('system')
  const found = system.length > 0 ? system : getCACertificates('bundled')
  // File and folder often contain the same certificates, which are slow to parse.
  return [...new Set([...found, ...getCACertificates('extra')])]
}

/** @throws Error for a text without PEM certificates */
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
