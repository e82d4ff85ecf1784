import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { issueCertificate } from '../../pkg/certs/issue.ts'
import { accessToken, kubectl, kubectlOutput, nodeNames, uniqueName } from '../e2e/cluster.ts'
import { eventually } from '../e2e/http.ts'
import { scratch, setting } from '../e2e/run.ts'
import { type OpenSearch, startOpenSearch } from '../integration/open-search.ts'
import { runFault } from './fault.ts'
import { pidOf } from './process.ts'
import { type Replica, type ReplicaOptions, startReplica } from './replica.ts'
import type { TrafficOptions } from './traffic.ts'

const runDir = dirname(setting('KAPIS_CA'))
const kapisNamespace = setting('KAPIS_NAMESPACE')
const dayMs = 86_400_000

// Faults in the dependencies of Kapis other than kube-apiserver: log store, disk, credential and
// certificates. Run by `make faults`.
if (process.env.FAULTS === 'long') {
  describe('failures of dependencies under load', function () {
    this.timeout(300_000)
    const namespace = uniqueName('stands')
    let replica: Replica | undefined
    let token = ''
    let nodes = 0
    const undo: (() => unknown)[] = []

    before(async () => {
      await kubectlOutput('create', 'namespace', namespace)
      token = await accessToken()
      nodes = (await nodeNames()).length
    })
    afterEach(async () => {
      await replica?.stop()
      replica = undefined
      for (const step of undo.splice(0).toReversed()) await step()
    })
    after(() => kubectl('delete', 'namespace', namespace, '--wait=false'))

    async function start(options: ReplicaOptions): Promise<{ replica: Replica; traffic: TrafficOptions }> {
      replica = await startReplica(options)
      return { replica, traffic: { url: replica.url, token, nodes, namespace } }
    }

    describe('OpenSearch', () => {
      let engine: OpenSearch
      before(async () => {
        engine = await startOpenSearch()
      })
      after(() => engine?.stop())
      const storedIn = (url: string) => ({
        config: { logs: { store: 'opensearch', opensearch: { url, indexPrefix: namespace.toLowerCase() } } },
      })

      it('is killed, and restarted', async () => {
        const { replica: own, traffic } = await start(storedIn(engine.url))
        const fault = { name: 'OpenSearch killed', begin: engine.kill, end: engine.start, holdSeconds: 8 }
        await runFault({ ...fault, pid: () => own.apiserver.pid ?? 0 }, { ...traffic, hasLogs: true })
      })

      it('has a host name that does not resolve', async () => {
        const url = engine.url.replace('127.0.0.1', 'logs.fault.test')
        const { replica: own, traffic } = await start(storedIn(url))
        const fault = {
          name: 'the name of OpenSearch does not resolve',
          begin: () => own.set({ names: 'fail' }),
          end: () => own.set({ names: 'resolve' }),
          holdSeconds: 8,
        }
        await runFault({ ...fault, pid: () => own.apiserver.pid ?? 0 }, { ...traffic, hasLogs: true })
      })
    })

    it('a full disk', async () => {
      const folder = join(scratch, uniqueName('disk'))
      const filler = join(folder, 'filler')
      mkdirSync(folder)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'none', folder])
      undo.push(() => execFileSync('umount', ['-l', folder]))
      const logs = { store: 'embedded', embedded: { folder: join(folder, 'logs') } }
      const { replica: own, traffic } = await start({ config: { logs } })
      const fault = {
        name: 'a full disk of the log store',
        begin: () => fill(filler),
        end: () => rmSync(filler),
        holdSeconds: 8,
      }
      await runFault({ ...fault, pid: () => own.apiserver.pid ?? 0 }, { ...traffic, hasLogs: true })
    })

    it('a credential of Kapis that kube-apiserver rejects', async () => {
      const file = join(scratch, uniqueName('token'))
      const accounts = ['-n', kapisNamespace]
      let secret = ''
      /**
       * Creates a token that is bound to a Secret and becomes invalid when the Secret is deleted.
       */
      const renew = async () => {
        secret = uniqueName('bound')
        await kubectlOutput(...accounts, 'create', 'secret', 'generic', secret)
        const bound = ['--bound-object-kind', 'Secret', '--bound-object-name', secret]
        writeFileSync(file, await kubectlOutput(...accounts, 'create', 'token', 'kapis', ...bound))
      }
      await renew()
      undo.push(() => kubectl(...accounts, 'delete', 'secret', secret))
      const { replica: own, traffic } = await start({ user: { tokenFile: file } })
      const fault = {
        name: 'the credential of Kapis revoked',
        begin: () => kubectlOutput(...accounts, 'delete', 'secret', secret),
        end: renew,
        // Longer than the ten seconds for which kube-apiserver caches a token.
        holdSeconds: 20,
      }
      let wasReported = false
      const ca = readFileSync(setting('KAPIS_CA'))
      const watching = setInterval(() => {
        const asked = request(`${own.url}/readyz/credential`, { ca }, res => {
          wasReported ||= res.resume().statusCode === 500
        })
        asked.on('error', () => undefined).end()
      }, 500)
      await runFault({ ...fault, pid: () => own.apiserver.pid ?? 0 }, traffic)
      clearInterval(watching)
      expect(wasReported).to.equal(true)
    })

    it('an expired serving certificate', async () => {
      const secret = async (name: string) =>
        JSON.parse(await kubectlOutput('-n', kapisNamespace, 'get', 'secret', name, '-o', 'json'))
      const read = (data: Record<string, string>, key: string) =>
        Buffer.from(data[key] ?? '', 'base64').toString('utf8')
      const { data } = await secret('kapis-ca')
      const ca = { certPem: read(data, 'tls.crt'), keyPem: read(data, 'tls.key') }
      const fault = {
        name: 'the serving certificate expired',
        async begin() {
          const pair = issueCertificate(ca, {
            ...{ commonName: 'kapis', dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] },
            ...{ usages: ['server'], validityDays: 1, now: new Date(Date.now() - 10 * dayMs) },
          })
          const encode = (text: string) => Buffer.from(text).toString('base64')
          const expired = { data: { 'tls.crt': encode(pair.certPem), 'tls.key': encode(pair.keyPem) } }
          const patch = ['patch', 'secret', 'kapis-serving', '--type=merge', '-p', JSON.stringify(expired)]
          await kubectlOutput('-n', kapisNamespace, ...patch)
        },
        end: () => undefined,
        holdSeconds: 0,
      }
      const traffic = { url: setting('KAPIS_URL'), token, nodes, namespace }
      await runFault({ ...fault, pid: () => pidOf('apiserver') }, traffic)
      await eventually(async () => {
        const stored = new X509Certificate(read((await secret('kapis-serving')).data, 'tls.crt'))
        expect(stored.validToDate.getTime()).to.be.above(Date.now())
      }, 10_000)
    })

    it('a client certificate that expires during its connection', async () => {
      const pki = (name: string) => readFileSync(join(runDir, 'pki', name), 'utf8')
      const lifeMs = 6_000
      const pair = issueCertificate(
        { certPem: pki('ca.crt'), keyPem: pki('ca.key') },
        {
          ...{
            commonName: 'someone',
            organizations: ['system:masters'],
            usages: ['client'],
            validityDays: 1,
          },
          now: new Date(Date.now() - dayMs + lifeMs),
        },
      )
      const credentials = { ca: readFileSync(setting('KAPIS_CA')), cert: pair.certPem, key: pair.keyPem }
      const agent = new Agent({ ...credentials, keepAlive: true, maxSockets: 1 })
      undo.push(() => agent.destroy())
      const codes: number[] = []
      const send = async () => {
        const { promise, resolve, reject } = Promise.withResolvers<number>()
        const url = new URL('/api/v1/namespaces/default', setting('KAPIS_URL'))
        request(url, { agent }, res => {
          res.resume().on('end', () => resolve(res.statusCode ?? 0))
        })
          .on('error', reject)
          .end()
        codes.push(await promise)
      }
      await send()
      await eventually(async () => {
        await send()
        expect(codes.at(-1)).to.equal(401)
      }, 20_000)
      await sleep(500)
      await send()
      expect(new Set(codes)).to.deep.equal(new Set([200, 401]))
      expect(codes.lastIndexOf(200)).to.be.below(codes.indexOf(401))
    })
  })
}

/** Writes to a file until the disk is full. */
function fill(file: string): void {
  const handle = openSync(file, 'w')
  try {
    for (const size of [65_536, 1]) {
      const block = Buffer.alloc(size)
      try {
        for (;;) writeSync(handle, block)
      } catch (error) {
        expect(error).to.include({ code: 'ENOSPC' })
      }
    }
  } finally {
    closeSync(handle)
  }
}
