import { createPrivateKey, X509Certificate } from 'node:crypto'
import { expect } from 'chai'
import { createCa, issueCertificate, type KeyPair } from './issue.ts'

const now = new Date('2031-05-06T07:08:09Z')
const ca = createCa({ commonName: 'test CA', validityDays: 3650, now })

describe('createCa', () => {
  it('creates a self-signed certificate that may sign others', () => {
    const cert = new X509Certificate(ca.certPem)
    expect(cert.ca).to.equal(true)
    expect(cert.subject).to.equal('CN=test CA')
    expect(cert.checkIssued(cert)).to.equal(true)
    expect(cert.verify(cert.publicKey)).to.equal(true)
  })

  it('returns the private key that belongs to the certificate', () => {
    const cert = new X509Certificate(ca.certPem)
    expect(cert.checkPrivateKey(createPrivateKey(ca.keyPem))).to.equal(true)
  })

  it('creates a certificate that is valid from five minutes ago for the requested time', () => {
    const cert = new X509Certificate(ca.certPem)
    expect(cert.validFromDate.toISOString()).to.equal('2031-05-06T07:03:09.000Z')
    expect(cert.validToDate.toISOString()).to.equal('2041-05-03T07:08:09.000Z')
  })

  it('gives each certificate a positive serial of 16 bytes', () => {
    const other = createCa({ commonName: 'test CA', validityDays: 1 })
    const serials = [ca, other].map(pair => new X509Certificate(pair.certPem).serialNumber)
    for (const serial of serials) expect(serial).to.match(/^[4-7][0-9A-F]{31}$/)
    expect(serials[0]).to.not.equal(serials[1])
  })
})

describe('issueCertificate', () => {
  const server = issueCertificate(ca, {
    commonName: 'kapis.kapis-system.svc',
    dnsNames: ['kapis.kapis-system.svc', 'localhost'],
    ipAddresses: ['127.0.0.1', '::1'],
    usages: ['server'],
    validityDays: 90,
    now,
  })

  it('creates a certificate that the CA has signed and that is not a CA', () => {
    const cert = new X509Certificate(server.certPem)
    const issuer = new X509Certificate(ca.certPem)
    expect(cert.ca).to.equal(false)
    expect(cert.checkIssued(issuer)).to.equal(true)
    expect(cert.verify(issuer.publicKey)).to.equal(true)
    expect(cert.checkPrivateKey(createPrivateKey(server.keyPem))).to.equal(true)
  })

  it('creates a certificate for the given DNS names and addresses only', () => {
    const cert = new X509Certificate(server.certPem)
    expect(cert.checkHost('localhost')).to.equal('localhost')
    expect(cert.checkHost('kapis.kapis-system.svc')).to.equal('kapis.kapis-system.svc')
    expect(cert.checkHost('example.org')).to.equal(undefined)
    expect(cert.checkIP('127.0.0.1')).to.equal('127.0.0.1')
    expect(cert.checkIP('::1')).to.equal('::1')
    expect(cert.checkIP('127.0.0.2')).to.equal(undefined)
  })

  it('creates a certificate for the given usages only', () => {
    const serverAuth = '1.3.6.1.5.5.7.3.1'
    const clientAuth = '1.3.6.1.5.5.7.3.2'
    const usages = (pair: KeyPair) => new X509Certificate(pair.certPem).keyUsage
    const client = issueCertificate(ca, { commonName: 'c', usages: ['client'], validityDays: 1 })
    const both = issueCertificate(ca, {
      commonName: 'b',
      usages: ['server', 'client'],
      validityDays: 1,
    })
    expect(usages(server)).to.deep.equal([serverAuth])
    expect(usages(client)).to.deep.equal([clientAuth])
    expect(usages(both)).to.have.members([serverAuth, clientAuth])
  })

  it('writes user and groups as Kubernetes reads them', () => {
    const pair = issueCertificate(ca, {
      commonName: 'jane_doe@example.org',
      organizations: ['system:masters', 'dev*'],
      usages: ['client'],
      validityDays: 1,
    })
    const { subject } = new X509Certificate(pair.certPem)
    expect(subject.split('\n')).to.deep.equal(['O=system:masters', 'O=dev*', 'CN=jane_doe@example.org'])
  })

  it('preserves a non-ASCII name of a CA exactly', () => {
    const odd = createCa({ commonName: 'Zürich 証明書 CA', validityDays: 1 })
    const pair = issueCertificate(odd, { commonName: 'x', usages: ['server'], validityDays: 1 })
    const cert = new X509Certificate(pair.certPem)
    expect(cert.checkIssued(new X509Certificate(odd.certPem))).to.equal(true)
  })

  it('sets the key ID of the signing CA, which distinguishes CAs of the same name', () => {
    const namesake = createCa({ commonName: 'test CA', validityDays: 1 })
    const cert = new X509Certificate(server.certPem)
    expect(cert.checkIssued(new X509Certificate(namesake.certPem))).to.equal(false)
  })
})
