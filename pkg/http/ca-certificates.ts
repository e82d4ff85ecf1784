import { X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

const pemBlock = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED )?CERTIFICATE-----/g

/**
 * Returns the CAs with which to verify servers: only those in `pem`, or those of the system
 * (SSL_CERT_FILE, SSL_CERT_DIR) and of NODE_EXTRA_CA_CERTS.
 *
 * @param pem '' for the CAs of the system
 */
export function createTrust(pem: string): SecureContext {
  return createSecureContext({ ca: pem === '' ? systemCertificates() : [pem] })
}

/**
 * Returns the CAs of the system, or those of Node.js if the system has none, as in a small
 * container.
 */
function systemCertificates(): string[] {
  const system = getCACertificates('system')
  const found = system.length > 0 ? system : getCACertificates('bundled')
  // Without duplicates: certificates are slow to parse, and the system often has the same ones in a
  // file and a folder.
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
