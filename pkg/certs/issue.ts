import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto'
import { createRequire } from 'node:module'
import type forge from 'node-forge'

/** A certificate and its private key (PKCS #8), both as PEM. */
export type KeyPair = { certPem: string; keyPem: string }

type Validity = { validityDays: number; now?: Date }

export type CertificateAuthorityOptions = Validity & { commonName: string }

export type CertificateOptions = Validity & {
  commonName: string
  /** Organizations in the subject: the groups that Kubernetes reads from a client certificate. */
  organizations?: readonly string[]
  dnsNames?: readonly string[]
  ipAddresses?: readonly string[]
  usages: readonly ('server' | 'client')[]
}

/** notBefore is set back by this time, since other clocks may be slightly behind. */
const backdatedMs = 5 * 60_000
const dayMs = 86_400_000
/**
 * The tag number of an ASN.1 UTF8String. The type declarations expect a tag class here, but the
 * library expects a tag number.
 */
const utf8: number = 12

const require = createRequire(import.meta.url)

/** Loads the X.509 library on demand: it takes 10 MB, and usually no certificate is issued. */
function library(): typeof forge {
  // This module exports the combined object of all modules.
  require('node-forge/lib/x509')
  return require('node-forge/lib/forge')
}

/** Creates a self-signed CA that may sign end-entity certificates but no CAs. */
export function createCa(o: CertificateAuthorityOptions): KeyPair {
  const { cert, keyPem } = newCertificate(o, [])
  cert.setIssuer(cert.subject.attributes)
  cert.setExtensions([
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyCertSign: true, cRLSign: true },
    { name: 'subjectKeyIdentifier' },
  ])
  return signed(cert, keyPem, keyPem)
}

/** Issues a server or client certificate with a new key. @throws Error without an RSA key */
export function issueCertificate(ca: KeyPair, o: CertificateOptions): KeyPair {
  const issuer = library().pki.certificateFromPem(ca.certPem)
  const { cert, keyPem } = newCertificate(o, o.organizations ?? [])
  cert.setIssuer(issuer.subject.attributes.map(decodeAttribute))
  const altNames = [
    ...(o.dnsNames ?? []).map(value => ({ type: 2, value })),
    ...(o.ipAddresses ?? []).map(ip => ({ type: 7, ip })),
  ]
  cert.setExtensions([
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', serverAuth: o.usages.includes('server'), clientAuth: o.usages.includes('client') },
    { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: issuer.generateSubjectKeyIdentifier().getBytes() },
    ...(altNames.length === 0 ? [] : [{ name: 'subjectAltName', altNames }]),
  ])
  return signed(cert, keyPem, ca.keyPem)
}

/** Returns when Kapis issued a certificate, since notBefore is a little earlier. */
export function issuedAtMs(certPem: string): number {
  return new X509Certificate(certPem).validFromDate.getTime() + backdatedMs
}

function newCertificate(o: Validity & { commonName: string }, organizations: readonly string[]) {
  // OpenSSL generates an RSA key much faster than the JavaScript of forge.
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const now = (o.now ?? new Date()).getTime()
  const { pki } = library()
  const cert = pki.createCertificate()
  cert.publicKey = pki.publicKeyFromPem(publicKey)
  cert.serialNumber = newSerial()
  cert.validity.notBefore = new Date(now - backdatedMs)
  cert.validity.notAfter = new Date(now + o.validityDays * dayMs)
  cert.setSubject([
    ...organizations.map(value => attribute('organizationName', value)),
    attribute('commonName', o.commonName),
  ])
  return { cert, keyPem: privateKey }
}

/** Returns a subject attribute as UTF-8: PrintableString excludes `@`, `_` and `*`. */
function attribute(name: string, value: string) {
  return { name, value, valueTagClass: utf8 }
}

/**
 * Decodes the value of a parsed attribute: it contains raw bytes, which would be encoded twice, and
 * the issuer name would differ.
 */
function decodeAttribute<A extends forge.pki.CertificateField>(attr: A): A {
  if (attr.valueTagClass !== utf8 || typeof attr.value !== 'string') return attr
  return { ...attr, value: library().util.decodeUtf8(attr.value) }
}

/**
 * Returns a serial number: positive, unique, at most 20 octets (RFC 5280 section 4.1.2.2). The
 * second-highest bit is set so that the first octet is not 0.
 */
function newSerial(): string {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes.toString('hex')
}

function signed(cert: forge.pki.Certificate, keyPem: string, signingKeyPem: string): KeyPair {
  const { asn1, md, pem, pki } = library()
  const [key] = pem.decode(signingKeyPem)
  cert.sign(pki.privateKeyFromAsn1(asn1.fromDer(key?.body ?? '')), md.sha256.create())
  return { certPem: pki.certificateToPem(cert).replaceAll('\r\n', '\n'), keyPem }
}
