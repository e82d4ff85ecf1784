import { X509Certificate } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import {
  createSecureContext,
  getCACertificates,
  type SecureContext,
  setDefaultCACertificates,
} from 'node:tls'
import { readRegularFile } from '../files/read-regular-file.ts'

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
 * Makes later connections trust the CAs of the system, unless they specify others. By default,
 * Node.js trusts the CAs that it was built with.
 */
export function trustSystemCertificates(): void {
  setDefaultCACertificates(systemCertificates())
}

/** Returns the CAs that connections use by default, and those in `pem`. */
export function withDefaultCertificates(pem: string): string[] {
  return [...getCACertificates('default'), pem]
}

/** Returns the CAs of the system, or those of Node.js if the system has none. */
function systemCertificates(): string[] {
  const system = readSystem()
  const found = system.length > 0 ? system : getCACertificates('bundled')
  // Without duplicates: certificates are slow to parse, and the system often has the same ones in a
  // file and a folder.
  return [...new Set([...found, ...getCACertificates('extra')])]
}

/** OpenSSL and Go read SSL_CERT_DIR as a list of folders; Node.js reads it as one folder. */
function readSystem(): readonly string[] {
  const { SSL_CERT_DIR } = process.env
  if (!SSL_CERT_DIR?.includes(delimiter)) return getCACertificates('system')
  try {
    process.env.SSL_CERT_DIR = ''
    return [...getCACertificates('system'), ...SSL_CERT_DIR.split(delimiter).flatMap(readFolder)]
  } finally {
    process.env.SSL_CERT_DIR = SSL_CERT_DIR
  }
}

/** Returns the certificates in the files of a folder. Other files are ignored, as OpenSSL does. */
function readFolder(folder: string): readonly string[] {
  const read = <T>(reader: () => T): T | undefined => {
    try {
      return reader()
    } catch {
      return undefined
    }
  }
  const files = folder === '' ? [] : (read(() => readdirSync(folder)) ?? [])
  const blocks = files.flatMap(
    name => read(() => readRegularFile(join(folder, name)).toString())?.match(pemBlock) ?? [],
  )
  return [...new Set(blocks)].filter(block => read(() => new X509Certificate(block)) !== undefined)
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
