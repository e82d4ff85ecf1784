import { X509Certificate } from 'node:crypto'
import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import type { Call, KubeClient } from '../kubeclient/client.ts'
import { isRecord } from '../kubeclient/object/object.ts'
import { createLogger } from '../telemetry/logger.ts'
import { FrontProxyCertificates } from './front-proxy-certificates.ts'
import { createCa, issueCertificate } from './issue.ts'

const logger = createLogger({ program: 'test', level: 'error', destination: { write: () => undefined } })
const headers = {
  user: 'X-Remote-User',
  uid: 'X-Remote-Uid',
  group: 'X-Remote-Group',
  extraPrefix: 'X-Remote-Extra-',
}

/** Stores objects by path, with conflicts like kube-apiserver. */
function createStore() {
  const objects = new Map<string, Record<string, unknown>>()
  const calls: string[] = []
  let version = 0
  const put = (path: string, body: Record<string, unknown>) => {
    version++
    const metadata = { ...(isRecord(body.metadata) ? body.metadata : {}), resourceVersion: String(version) }
    const object = { ...body, metadata }
    objects.set(path, object)
    return object
  }
  const call = async ({ method = 'GET', path, body }: Call): Promise<unknown> => {
    calls.push(`${method} ${path.split('/').slice(5).join('/')}`)
    const given: Record<string, unknown> = isRecord(body) ? { ...body } : {}
    const name = isRecord(given.metadata) ? String(given.metadata.name) : ''
    const target = method === 'POST' ? `${path}/${name}` : path
    const old = objects.get(target)
    if (method === 'POST') {
      if (old !== undefined) throw new Status(409, 'AlreadyExists', 'it is there')
      return put(target, given)
    }
    if (old === undefined) throw new Status(404, 'NotFound', 'it is not there')
    if (method === 'GET') return old
    return put(target, { ...old, ...given, metadata: old.metadata })
  }
  const client: KubeClient = {
    call,
    stream: () => Promise.reject(new Error('there is no watch')),
    close: () => undefined,
  }
  return { client, objects, calls, put }
}

const base = '/api/v1/namespaces/ns'

function stored(objects: ReadonlyMap<string, Record<string, unknown>>, name: string): X509Certificate {
  const data = objects.get(`${base}/secrets/${name}`)?.data
  return new X509Certificate(Buffer.from(isRecord(data) ? String(data['tls.crt']) : '', 'base64'))
}

describe('FrontProxyCertificates', () => {
  const running: FrontProxyCertificates[] = []
  afterEach(() => {
    for (const certificates of running.splice(0)) certificates.stop()
  })

  async function start(client: KubeClient): Promise<FrontProxyCertificates> {
    const certificates = new FrontProxyCertificates({ client, namespace: 'ns', logger, headers })
    running.push(certificates)
    await certificates.start()
    return certificates
  }

  it('creates a CA and a certificate for client authentication only', async () => {
    const { client, objects } = createStore()
    const certificate = new X509Certificate((await start(client)).current()?.certPem ?? '')
    const ca = stored(objects, 'kapis-front-proxy-ca')
    expect(certificate.checkIssued(ca) && certificate.verify(ca.publicKey)).to.equal(true)
    expect(certificate.subject).to.equal('CN=kapis-front-proxy')
    // Node.js returns extended key usages as keyUsage; this OID is clientAuth.
    expect(certificate.keyUsage).to.deep.equal(['1.3.6.1.5.5.7.3.2'])
  })

  it('publishes the CA like kube-apiserver publishes its own, and never a key', async () => {
    const { client, objects } = createStore()
    await start(client)
    const published = objects.get(`${base}/configmaps/kapis-front-proxy`)
    expect(published?.data).to.deep.equal({
      'requestheader-client-ca-file': stored(objects, 'kapis-front-proxy-ca').toString(),
      'requestheader-allowed-names': '["kapis-front-proxy"]',
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    })
    expect(JSON.stringify(published)).to.not.include('PRIVATE KEY')
  })

  it('uses the pair of the first replica on all replicas', async () => {
    const { client } = createStore()
    const [first, second] = [await start(client), await start(client)]
    expect(second.current()).to.deep.equal(first.current())
  })

  it('uses one pair on two replicas that start concurrently', async () => {
    const { client } = createStore()
    const [first, second] = await Promise.all([start(client), start(client)])
    expect(second.current()?.certPem).to.equal(first.current()?.certPem)
  })

  const ca = createCa({ commonName: 'kapis-front-proxy', validityDays: 10 })
  const strangers = createCa({ commonName: 'kapis-front-proxy', validityDays: 10 })
  const unfit = {
    'of another CA': issueCertificate(strangers, {
      commonName: 'x',
      usages: ['client'],
      validityDays: 9,
    }),
    'close to its expiry': issueCertificate(ca, {
      ...{ commonName: 'x', usages: ['client'], validityDays: 9 },
      now: new Date(Date.now() - 8 * 86_400_000),
    }),
  }
  for (const [why, pair] of Object.entries(unfit)) {
    it(`replaces a certificate that is ${why}`, async () => {
      const { client, objects, put } = createStore()
      const secret = (name: string, { certPem, keyPem }: typeof pair) =>
        put(`${base}/secrets/${name}`, {
          metadata: { name, namespace: 'ns' },
          data: {
            'tls.crt': Buffer.from(certPem).toString('base64'),
            'tls.key': Buffer.from(keyPem).toString('base64'),
          },
        })
      secret('kapis-front-proxy-ca', ca)
      secret('kapis-front-proxy-client', pair)
      const certificates = await start(client)
      expect(certificates.current()?.certPem).to.not.equal(pair.certPem)
      expect(
        stored(objects, 'kapis-front-proxy-client').checkIssued(new X509Certificate(ca.certPem)),
      ).to.equal(true)
    })
  }
})
