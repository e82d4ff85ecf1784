import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto'
import { createRequire } from 'node:module'
import type forge from 'node-forge'

/** A certificate and its private key (PKCS #8), both as PEM. */
export type KeyPair = { certPem: string; keyPem: string }

type Validity = { validityDays: number; now?: Date }

export type CertificateAuthorityOptions = Validity & { commonName: string }

export type CertificateOptions = Validity & {
  commonName: string
  /** For a client certificate: the groups that Kubernetes reads from it. */
  organizations?: readonly string[]
  dnsNames?: readonly string[]
  ipAddresses?: readonly string[]
  usages: readonly ('server' | 'client')[]
}

/** Clocks of the machines that verify a new certificate may be slightly behind. */
const backdatedMs = 5 * 60_000
const dayMs = 86_400_000
/**
 * The tag number of an ASN.1 UTF8String. The type declarations expect a tag class here, but the
 * library expects a tag number.
 */
const utf8: number = 12

const require = createRequire(import.meta.url)

/**
 * Loads the X.509 library when a certificate is issued, since it takes 10 MB and most starts issue
 * none.
 */
function library(): typeof forge {
  // Combines the exports of the modules into one object.
  require('node-forge/lib/x509')
  return require('node-forge/lib/forge')
}

/** Creates a self-signed CA that may sign end certificates but no further CAs. */
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

/**
 * Issues a server or client certificate with a new key.
 *
 * @throws Error unless the CA has an RSA key, which node-forge requires
 */
export function issueCertificate(authority: KeyPair, o: CertificateOptions): KeyPair {
  const issuer = library().pki.certificateFromPem(authority.certPem)
  const { cert, keyPem } = newCertificate(o, o.organizations ?? [])
  cert.setIssuer(issuer.subject.attributes.map(decoded))
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
  return signed(cert, keyPem, authority.keyPem)
}

/** When one of our certificates was issued: notBefore is a little earlier. */
export function issuedAtMs(certPem: string): number {
  return new X509Certificate(certPem).validFromDate.getTime() + backdatedMs
}

function newCertificate(o: Validity & { commonName: string }, organizations: readonly string[]) {
  // OpenSSL makes an RSA key in a fraction of the time that forge's JavaScript needs.
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

/** UTF-8, because PrintableString excludes `@`, `_` and `*`, which occur in user names. */
function attribute(name: string, value: string) {
  return { name, value, valueTagClass: utf8 }
}

/**
 * A parsed attribute contains raw bytes, but writing encodes them again: without this the issuer
 * name would differ.
 */
function decoded<A extends forge.pki.CertificateField>(attr: A): A {
  if (attr.valueTagClass !== utf8 || typeof attr.value !== 'string') return attr
  return { ...attr, value: library().util.decodeUtf8(attr.value) }
}

/**
 * RFC 5280 4.1.2.2: positive, unique, at most 20 octets. The second-highest bit ensures that the
 * first octet is not 0.
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
