import { X509Certificate } from 'node:crypto'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { parseConfig } from '../config/config.ts'
import { createLogger } from '../telemetry/logger.ts'
import { parseCa } from './ca-secret.ts'
import { createSecretStore, type SecretStore } from './fixtures.ts'
import { createCa } from './issue.ts'
import { ServingCertificates, type ServingMaterial } from './serving-certificates.ts'

const discarded = new Writable({ write: (_chunk, _encoding, done) => done() })
const logger = createLogger({ program: 'test', level: 'error', destination: discarded })
const encode = (text: string) => Buffer.from(text).toString('base64')

describe('ServingCertificates', function () {
  this.timeout(20_000)
  const running: ServingCertificates[] = []

  async function start(store: SecretStore, rolloverSeconds = 86_400): Promise<ServingCertificates> {
    const { config } = parseConfig({ groupDomain: 'example.io', tls: { rolloverSeconds } })
    const certificates = new ServingCertificates({ client: store.client, config, logger })
    running.push(certificates)
    await certificates.start()
    return certificates
  }

  afterEach(() => {
    for (const certificates of running.splice(0)) certificates.stop()
  })

  it('creates a CA and a pair that names the Service', async () => {
    const { certPem, bundlePem } = (await start(createSecretStore())).current()
    const leaf = new X509Certificate(certPem)
    expect(leaf.verify(new X509Certificate(bundlePem).publicKey)).to.equal(true)
    for (const host of ['kapis.kapis-system.svc', 'localhost']) expect(leaf.checkHost(host)).to.equal(host)
  })

  it('uses the same pair as another replica that starts at the same moment', async () => {
    const store = createSecretStore()
    const [a, b] = await Promise.all([start(store), start(store)])
    await eventually(() => shown(a) === shown(b))
    expect(a?.current()).to.deep.equal(b?.current())
  })

  it('uses a CA that an administrator has stored, and never replaces it', async () => {
    const store = createSecretStore()
    const given = createCa({
      commonName: 'given',
      validityDays: 2,
      now: new Date(Date.now() - 1.9 * 86_400_000),
    })
    const data = { 'tls.crt': encode(given.certPem), 'tls.key': encode(given.keyPem) }
    store.put('kapis-ca', { data, metadata: { annotations: { 'certificates.example.io/rotate': 'now' } } })
    const certificates = await start(store, 1)
    await sleep(1_200)
    expect(certificates.current().bundlePem).to.equal(given.certPem)
    expect(store.writes).to.deep.equal(['POST kapis-serving'])
  })

  it('keeps a pair that an administrator has stored, even if it does not match', async () => {
    const store = createSecretStore()
    const given = createCa({ commonName: 'given', validityDays: 2 })
    store.put('kapis-serving', {
      data: { 'tls.crt': encode(given.certPem), 'tls.key': encode(given.keyPem) },
    })
    expect((await start(store)).current().certPem).to.equal(given.certPem)
  })

  it('creates a deleted pair again', async () => {
    const store = createSecretStore()
    const certificates = await start(store)
    const old = shown(certificates)
    await eventually(() => store.watches() === 2)
    store.remove('kapis-serving')
    await eventually(() => shown(certificates) !== old)
  })

  it('replaces its CA on demand: both are trusted before and after the new one signs', async () => {
    const store = createSecretStore()
    const [a, b] = await Promise.all([start(store, 1), start(store, 1)])
    const notified: ServingMaterial[] = []
    a?.onChange(() => notified.push(a.current()))
    const old = a?.current().bundlePem ?? ''
    await eventually(() => store.watches() === 4)
    const secret = store.get('kapis-ca')
    store.put('kapis-ca', {
      ...secret,
      metadata: { ...secret?.metadata, annotations: { 'certificates.example.io/rotate': 'now' } },
    })
    await eventually(() => notified.length >= 3 && authorities(notified.at(-1)?.bundlePem) === 1, 10_000)
    await eventually(() => shown(a) === shown(b))
    for (const { certPem, bundlePem } of notified) expect(isTrusted(certPem, bundlePem)).to.equal(true)
    // The previous CA bundle of a client must contain the CA of the next certificate.
    for (const [i, { bundlePem }] of notified.entries()) {
      expect(
        isTrusted(notified[i + 1]?.certPem ?? notified[i]?.certPem ?? '', bundlePem),
        String(i),
      ).to.equal(true)
    }
    expect(notified.map(({ bundlePem }) => authorities(bundlePem))).to.deep.equal([2, 2, 1])
    expect(notified.at(-1)?.bundlePem).to.not.include(old.trim())
    const stored = store.get('kapis-ca')
    expect(stored && parseCa(stored, 'example.io')).to.include({
      isRotationRequested: false,
      next: undefined,
    })
  })

  it('returns no certificate before it has started', () => {
    const { config } = parseConfig({})
    const certificates = new ServingCertificates({ client: createSecretStore().client, config, logger })
    expect(() => certificates.current()).to.throw('the serving certificate has not been loaded yet')
  })
})

function shown(certificates: ServingCertificates | undefined): string {
  return certificates?.current().certPem ?? ''
}

function blocks(pem = ''): readonly string[] {
  return pem.match(/-----BEGIN[\s\S]*?-----END CERTIFICATE-----/g) ?? []
}

function authorities(pem: string | undefined): number {
  return blocks(pem).length
}

function isTrusted(certPem: string, bundlePem: string): boolean {
  const leaf = new X509Certificate(certPem)
  return blocks(bundlePem).some(pem => leaf.verify(new X509Certificate(pem).publicKey))
}

async function eventually(check: () => boolean, withinMs = 5_000): Promise<void> {
  const until = Date.now() + withinMs
  while (!check()) {
    if (Date.now() > until) throw new Error(`timed out waiting for ${check}`)
    await sleep(10)
  }
}
