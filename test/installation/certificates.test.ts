import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { repository } from '../../hack/controlplane/settings.ts'
import { createCa, issueCertificate, type KeyPair } from '../../pkg/certs/issue.ts'
import { splitCertificates } from '../../pkg/certs/pem.ts'
import { eventually } from '../e2e/http.ts'
import { bareCluster, type Cluster } from './control-plane.ts'
import { get } from './get.ts'
import { startLoad, watchAvailability } from './load.ts'
import { type Pod, startPod } from './pod.ts'
import { uninstall } from './uninstall.ts'
import { untilServed } from './until-served.ts'

const namespace = 'kapis-system'
const apiService = 'v1alpha3.resources.kapis.io'
const overlay = join(repository, 'manifests/overlays/ha')
// Longer than a loaded machine takes from one reading to the next.
const overlapSeconds = 12

describe('certificates of two replicas under load', function () {
  this.timeout(400_000)
  let cluster: Cluster
  const pods: Pod[] = []

  before(async () => {
    cluster = await bareCluster()
    await cluster.output(['apply', '-k', overlay])
    const env = {
      KAPIS_TLS_ROLLOVER_SECONDS: String(overlapSeconds),
      KAPIS_SHUTDOWN_DELAY_SECONDS: '0',
    }
    pods.push(...(await Promise.all(['e', 'f'].map(name => startPod(cluster, { name, namespace, env })))))
    await untilServed(cluster)
  })

  after(async () => {
    await Promise.all(pods.map(pod => pod.stop()))
    await uninstall(cluster, ['-k', overlay])
  })

  const shown = async () => Promise.all(pods.map(async pod => (await get(`${pod.url}/readyz`)).certificate))
  const bundle = async () => {
    const path = 'jsonpath={.spec.caBundle}'
    const pem = Buffer.from(
      await cluster.output(['get', 'apiservice', apiService, '-o', path]),
      'base64',
    ).toString()
    return splitCertificates(pem)
  }

  /**
   * Runs a rotation under load: no request may fail, and the registration must remain available.
   */
  async function underLoad(work: () => Promise<void>): Promise<void> {
    const load = startLoad(cluster)
    const availability = watchAvailability(cluster, apiService)
    await sleep(1_000)
    await work()
    // A failure would show late: kube-apiserver keeps its connections to Kapis open for a while.
    await sleep(3_000)
    const { failures, ...figures } = await load.stop()
    console.log(`      ${JSON.stringify(figures)}`)
    expect(failures).to.deep.equal([])
    expect(await availability.stop()).to.deep.equal(['True'])
    expect(figures.requests).to.be.above(10)
  }

  async function bothShowAnother(than: string): Promise<void> {
    await eventually(
      async () => {
        const [a, b] = await shown()
        expect(a).to.equal(b)
        expect(a).to.not.equal(than)
      },
      90_000,
      200,
    )
  }

  it('are recreated when the serving certificate is deleted, and served by both', async () => {
    const [old = ''] = await shown()
    await underLoad(async () => {
      await cluster.output(['-n', namespace, 'delete', 'secret', 'kapis-serving'])
      await bothShowAnother(old)
    })
  })

  it('are replaced with the CA on demand: announced, used, removed', async () => {
    const [old = ''] = await shown()
    const [first] = await bundle()
    await underLoad(async () => {
      const annotation = 'certificates.kapis.io/rotate=now'
      await cluster.output(['-n', namespace, 'annotate', 'secret', 'kapis-ca', annotation])
      await eventually(async () => void expect(await bundle()).to.have.length(2), 90_000, 100)
      expect(await shown(), 'not before everybody knows the new one').to.deep.equal([old, old])
      await bothShowAnother(old)
      expect(await bundle(), 'the old one is still known').to.have.length(2)
      await eventually(async () => void expect(await bundle()).to.have.length(1), 90_000, 200)
    })
    expect((await bundle())[0]).to.not.equal(first)
  })

  it('of the front proxy change after both CAs are published', async () => {
    const file = (name: string) => join(cluster.runDir, 'pki', name)
    const read = (name: string): KeyPair => ({
      certPem: readFileSync(file(`${name}.crt`), 'utf8'),
      keyPem: readFileSync(file(`${name}.key`), 'utf8'),
    })
    const old = { authority: read('front-proxy-ca'), client: read('front-proxy-client') }
    const ca = createCa({ commonName: 'kubernetes-front-proxy-2', validityDays: 1 })
    const client = issueCertificate(ca, {
      commonName: 'front-proxy-client',
      usages: ['client'],
      validityDays: 1,
    })
    const publish = async (pem: string) => {
      writeFileSync(file('front-proxy-ca.crt'), pem)
      // kube-apiserver restores the content of its own file in the ConfigMap.
      await eventually(
        async () => {
          const path = 'jsonpath={.data.requestheader-client-ca-file}'
          const name = 'configmap/extension-apiserver-authentication'
          const published = await cluster.output(['-n', 'kube-system', 'get', name, '-o', path])
          for (const one of pem.trim().split(/(?<=-----END CERTIFICATE-----)\s+/))
            expect(published).to.include(one.trim())
        },
        90_000,
        500,
      )
    }
    await underLoad(async () => {
      await publish(old.authority.certPem + ca.certPem)
      writeFileSync(file('front-proxy-client.key'), client.keyPem)
      writeFileSync(file('front-proxy-client.crt'), client.certPem)
      await sleep(10_000)
    })
    writeFileSync(file('front-proxy-client.key'), old.client.keyPem)
    writeFileSync(file('front-proxy-client.crt'), old.client.certPem)
    writeFileSync(file('front-proxy-ca.crt'), old.authority.certPem)
  })
})
