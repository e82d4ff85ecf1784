import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { repository } from '../../hack/controlplane/settings.ts'
import { createCa, issueCertificate } from '../../pkg/certs/issue.ts'
import { eventually } from '../e2e/http.ts'
import { run, scratch } from '../e2e/run.ts'
import { startSilentPort } from '../peers/silent-port.ts'
import { bareCluster, type Cluster, hostAddress } from './control-plane.ts'
import { createEndpoint, createPod } from './endpoint.ts'
import { type Pod, startPod } from './pod.ts'
import { uninstall } from './uninstall.ts'

const namespace = 'kapis-system'
const apiService = 'v1alpha3.resources.kapis.io'
const overlay = join(repository, 'manifests/overlays/default')

type Finding = { severity: string; problem: string; fix: string }
type ExpectedFinding = readonly [check: string, problem: RegExp, fix: RegExp]
type Report = { healthy: boolean; checks: { check: string; findings: Finding[] }[] }

describe('kapis doctor', function () {
  // A long timeout, since kube-apiserver checks an APIService every thirty seconds.
  this.timeout(400_000)
  let cluster: Cluster
  let pod: Pod | undefined

  async function doctor(...args: readonly string[]): Promise<{ code: number | null; report: Report }> {
    const url = pod === undefined ? [] : ['--url', pod.url]
    const words = ['cmd/kapis/main.ts', 'doctor', '-o', 'json', ...url, ...args]
    const ran = await run(process.execPath, words, { env: cluster.env, cwd: repository })
    expect(ran.stderr).to.equal('')
    return { code: ran.code, report: JSON.parse(ran.stdout) }
  }

  /**
   * Makes kube-apiserver check the APIService, if it exists, rather than after up to thirty
   * seconds.
   */
  let looks = 0
  const look = () =>
    cluster.kubectl(['annotate', 'apiservice', apiService, `looks=${++looks}`, '--overwrite'])

  /**
   * Expects that one report contains all these findings with their fixes, and that the exit code
   * indicates errors.
   */
  async function names(expected: readonly ExpectedFinding[], ...args: readonly string[]): Promise<Report> {
    let last: Report | undefined
    await eventually(
      async () => {
        await look()
        const { code, report } = await doctor(...args)
        for (const [check, problem, fix] of expected) {
          const found = findingsOf(report, check)
          const match = found.some(one => problem.test(one.problem) && fix.test(one.fix))
          const findings = JSON.stringify(report.checks.filter(one => one.findings.length > 0))
          expect(match, `${problem}: ${findings}`).to.equal(true)
        }
        expect([code, report.healthy]).to.deep.equal([1, false])
        last = report
      },
      150_000,
      1_000,
    )
    if (last === undefined) throw new Error('there is no report')
    return last
  }

  async function healthy() {
    await eventually(
      async () => {
        await look()
        const { code, report } = await doctor()
        // This finding is ignored: the name of the Service cannot be resolved outside of the
        // cluster.
        const found = report.checks
          .flatMap(one => one.findings)
          .filter(one => !/does not resolve on this machine/.test(one.problem))
        expect({ code, found, healthy: report.healthy }).to.deep.equal({ code: 0, found: [], healthy: true })
      },
      150_000,
      1_000,
    )
  }
  const kubectl = (...args: readonly string[]) => cluster.output(args)
  const restore = () => cluster.output(['apply', '-k', overlay])
  const patch = (what: string, change: object) =>
    kubectl('-n', namespace, 'patch', what, '--type=merge', '-p', JSON.stringify(change))

  before(async () => {
    cluster = await bareCluster()
    await restore()
    pod = await startPod(cluster, { name: 'doctor', namespace, env: { KAPIS_SHUTDOWN_DELAY_SECONDS: '0' } })
  })

  after(async () => {
    await pod?.stop()
    await uninstall(cluster, ['-k', overlay])
  })

  it('reports no problem for a healthy installation', healthy)

  it('prints the same result as text', async () => {
    const words = ['cmd/kapis/main.ts', 'doctor']
    const { code, stdout } = await run(process.execPath, words, { env: cluster.env, cwd: repository })
    expect(code, stdout).to.equal(0)
    for (const check of ['service', 'rights', 'certificates', 'apiservice']) {
      expect(stdout).to.match(new RegExp(`^ok +${check}$`, 'm'))
    }
    expect(stdout).to.match(/^0 errors, \d warnings?$/m)
  })

  it('reports a wrong clock', async () => {
    const file = join(scratch, 'doctor-clock')
    const preload = pathToFileURL(join(repository, 'test/faults/preload.ts')).href
    const env = { ...cluster.env, NODE_OPTIONS: `--import=${preload}`, FAULT_FILE: file }
    const found = async (clockMs: number) => {
      writeFileSync(file, JSON.stringify({ clockMs, names: 'resolve' }))
      const words = ['cmd/kapis/main.ts', 'doctor', '-o', 'json']
      const { code, stdout } = await run(process.execPath, words, { env, cwd: repository })
      const [clock] = findingsOf(JSON.parse(stdout), 'environment').filter(one => /clock/.test(one.fix))
      return {
        code,
        severity: clock?.severity,
        seconds: Number(/differ by (\d+) s$/.exec(clock?.problem ?? '')?.[1]),
      }
    }
    // The reported difference is approximate: the time in responses of kube-apiserver is in whole
    // seconds.
    for (const [clockMs, severity, code] of [
      [600_000, 'error', 1],
      [-600_000, 'error', 1],
      [30_000, 'warning', 0],
    ] as const) {
      const { seconds, ...rest } = await found(clockMs)
      expect(rest).to.deep.equal({ code, severity })
      expect(seconds).to.be.within(Math.abs(clockMs) / 1000 - 3, Math.abs(clockMs) / 1000 + 3)
    }
    expect((await found(0)).severity).to.equal(undefined)
  })

  it('reports an issuer with an unknown host name', async () => {
    const { code, report } = await doctor()
    const [found] = findingsOf(report, 'environment')
    expect(code).to.equal(0)
    expect(found).to.deep.equal({
      severity: 'warning',
      problem: 'the host name of oauth.issuer, kapis.kapis-system.svc, does not resolve on this machine',
      fix: 'add kapis.kapis-system.svc to DNS, or set oauth.issuer to a name that resolves: kube-apiserver fetches the keys from it, and users log in at it',
    })
  })

  it('reports differences from the manifests: policies, CRDs, RBAC, configuration', async () => {
    const name = 'users.iam.kapis.io'
    const binding = `validatingadmissionpolicybinding/${name}`
    await patch(binding, { spec: { validationActions: ['Audit'] } })
    const schema = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties'
    const remove = JSON.stringify([{ op: 'remove', path: `${schema}/credential` }])
    await kubectl('patch', 'crd', name, '--type=json', '-p', remove)
    const mark = ['-l', 'app.kubernetes.io/name=kapis', '-o', 'name']
    const config = await kubectl('-n', namespace, 'get', 'configmap', ...mark)
    await patch(config.trim(), { data: { 'kapis.yaml': 'oauth: {accessTokenSeconds: 5}\n' } })
    // This binding also grants reading the ConfigMap of the front proxy, so it is deleted too.
    await kubectl('delete', 'clusterrolebinding', 'kapis', 'kapis:auth-delegator')
    await kubectl('-n', 'kube-system', 'delete', 'rolebinding', 'kapis:authentication-reader')
    await names([
      ['admission', /Binding users\.iam\.kapis\.io denies nothing/, /apply the manifests again/],
      ['custom-resources', /users\.iam\.kapis\.io is from an older release/, /apply the manifests/],
      ['configuration', /oauth\.accessTokenSeconds: must be a whole number from 60/, /edit configmap/],
      [
        'rights',
        /lacks \d+ of \d+ permissions of the ClusterRole kapis and its ClusterRoleBinding: get .*, /,
        /restore the ClusterRole kapis/,
      ],
      [
        'rights',
        /lacks 2 of 2 permissions .*: create tokenreviews\.authentication\.k8s\.io, /,
        /kapis:auth-delegator/,
      ],
      [
        'rights',
        /get configmaps\/extension-apiserver-authentication/,
        /RoleBinding kapis:authentication-reader in kube-system/,
      ],
    ])
    await kubectl('delete', `validatingadmissionpolicy/${name}`)
    await names([['admission', /Policy users\.iam\.kapis\.io is missing/, /apply the manifests again/]])
    await restore()
    await healthy()
  })

  it('reports a Secret without its password hash', async () => {
    await kubectl('-n', namespace, 'delete', 'secret', 'kapis-user-admin')
    const { code, report } = await doctor()
    expect(code).to.equal(0)
    expect(findingsOf(report, 'passwords')).to.deep.equal([
      {
        severity: 'warning',
        problem: 'the Secrets with the password hashes of 1 users are lost: admin',
        fix: 'restore the Secrets kapis-user-NAME in kapis-system from a backup, or set new passwords: kapis user set-password NAME',
      },
    ])
    await kubectl('delete', 'users.iam.kapis.io', 'admin')
  })

  it('reports a token of another issuer', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const token = `${part({ alg: 'none' })}.${part({ iss: 'https://old.example.org/oauth' })}.x`
    await names(
      [
        [
          'oauth-server',
          /issued by https:\/\/old\.example\.org\/oauth, but the configured issuer is/,
          /log in again/,
        ],
      ],
      '--token',
      token,
    )
  })

  it('reports a front proxy that Kapis does not trust', async () => {
    const files = ['crt', 'key'].map(suffix => join(cluster.runDir, `pki/front-proxy-client.${suffix}`))
    const [certFile = '', keyFile = ''] = files
    const old = files.map(file => readFileSync(file, 'utf8'))
    const ca = createCa({ commonName: 'another front proxy CA', validityDays: 1 })
    const pair = issueCertificate(ca, {
      commonName: 'front-proxy-client',
      usages: ['client'],
      validityDays: 1,
    })
    const put = (certPem: string, keyPem: string) => {
      writeFileSync(certFile, certPem)
      writeFileSync(keyFile, keyPem)
    }
    put(pair.certPem, pair.keyPem)
    await names([
      [
        'apiservice',
        /FailedDiscoveryCheck: .*40[13]/,
        /does not accept the front-proxy certificate of kube-apiserver/,
      ],
    ])
    put(old[0] ?? '', old[1] ?? '')
    await healthy()
  })

  it('reports a Service without the port of the APIService', async () => {
    await patch('service/kapis', { spec: { ports: [{ name: 'https', port: 8443, targetPort: 'https' }] } })
    await names([
      ['service', /has no port 443 \(it has 8443\)/, /apply the manifests again/],
      ['apiservice', /ServicePortError/, /add port 443 to the Service kapis-system\/kapis/],
    ])
    await patch('service/kapis', { spec: { ports: [{ name: 'https', port: 443, targetPort: 'https' }] } })
    await healthy()
  })

  it('reports a configuration in a Secret that the programs reject', async () => {
    const path = 'jsonpath={.spec.template.spec.volumes[?(@.name=="config")].configMap.name}'
    const name = await kubectl('-n', namespace, 'get', 'deployment', 'kapis', '-o', path)
    const mount = (from: object) => {
      const volumes = [{ name: 'config', configMap: null, secret: null, ...from }]
      const change = JSON.stringify({ spec: { template: { spec: { volumes } } } })
      return kubectl('-n', namespace, 'patch', 'deployment/kapis', '-p', change)
    }
    const literal = '--from-literal=kapis.yaml=oauth: {accessTokenSeconds: 5}'
    await kubectl('-n', namespace, 'create', 'secret', 'generic', 'own-config', literal)
    await mount({ secret: { secretName: 'own-config' } })
    await names([
      [
        'configuration',
        /own-config: oauth\.accessTokenSeconds: must be a whole number from 60/,
        /correct kapis\.yaml in the Secret own-config/,
      ],
    ])
    await kubectl('-n', namespace, 'delete', 'secret', 'own-config')
    await names([
      ['configuration', /the Secret kapis-system\/own-config is missing/, /apply the manifests again/],
    ])
    await mount({ configMap: { name: name.trim() } })
    await healthy()
  })

  it('reports a kapis-oauth that is not running', async () => {
    const pid = pod?.pids.get('oauth') ?? 0
    process.kill(pid, 'SIGSTOP')
    process.kill(pid, 'SIGKILL')
    await names([['oauth-server', /kapis-oauth is not responding: 50/, /logs deployment\/kapis -c oauth/]])
  })

  describe('without a running Pod that would repair it', () => {
    before(async () => {
      await pod?.stop()
      pod = undefined
    })

    it('reports a firewall that drops connections to the Pods', async () => {
      const { port, stop } = await startSilentPort(hostAddress())
      const name = 'firewalled'
      const addressed = createPod(cluster, { name, namespace, port })
      const endpoint = createEndpoint(cluster, { name, namespace, port, pod: name })
      try {
        await addressed.make()
        await endpoint.set(true)
        const fix = /open their port 10250 to the control plane \(firewall,/
        const reached = await names([
          ['apiservice', /FailedDiscoveryCheck: .*(timeout|deadline)/, fix],
          ['oauth-server', /kapis-apiserver is not responding: (timed out after 5 s|.*timeout)/, fix],
        ])
        expect(findingsOf(reached, 'service')).to.deep.equal([])
        await names(
          [
            [
              'oauth-server',
              /kapis-apiserver is not responding: timed out after 5 s/,
              /a firewall blocks https:/,
            ],
          ],
          ...['--url', `https://${hostAddress()}:${port}`],
        )
      } finally {
        await endpoint.remove()
        await addressed.remove()
        await stop()
      }
    })

    it('reports a Service without endpoints', async () => {
      await names([
        ['service', /has no ready endpoint: \d+ Pods, none of them ready/, /describe pods/],
        ['apiservice', /MissingEndpoints|EndpointsNotFound/, /check why no Pod is ready/],
      ])
    })

    it('reports a caBundle with another CA', async () => {
      const other = createCa({ commonName: 'someone else', validityDays: 1 })
      const caBundle = Buffer.from(other.certPem).toString('base64')
      await patch(`apiservice/${apiService}`, { spec: { caBundle } })
      await names([
        [
          'certificates',
          /caBundle .* does not contain the CA of the serving certificate/,
          /kapis-apiserver writes it while it runs/,
        ],
      ])
    })

    it('reports a serving certificate that has expired, and one that names another Service', async () => {
      const read = async (key: string) =>
        Buffer.from(
          await kubectl('-n', namespace, 'get', 'secret', 'kapis-ca', '-o', `jsonpath={.data.tls\\.${key}}`),
          'base64',
        ).toString('utf8')
      const ca = { certPem: await read('crt'), keyPem: await read('key') }
      const now = new Date(Date.now() - 10 * 86_400_000)
      const pair = issueCertificate(ca, {
        commonName: 'x',
        dnsNames: ['other.svc'],
        usages: ['server'],
        validityDays: 1,
        now,
      })
      const encode = (text: string) => Buffer.from(text).toString('base64')
      await patch('secret/kapis-serving', {
        data: { 'tls.crt': encode(pair.certPem), 'tls.key': encode(pair.keyPem) },
      })
      await names([
        ['certificates', /the serving certificate expired on/, /delete secret kapis-serving/],
        ['certificates', /is not valid for kapis\.kapis-system\.svc/, /delete secret kapis-serving/],
      ])
      await kubectl('-n', namespace, 'delete', 'secret', 'kapis-serving')
      await names([
        ['certificates', /the Secret kapis-system\/kapis-serving is missing/, /kapis-apiserver creates it/],
      ])
    })

    it('reports an APIService that is missing, or belongs to another program', async () => {
      await kubectl('delete', 'apiservice', apiService)
      await names([['apiservice', /the APIService .* is missing/, /apply the manifests again/]])
      const theirs = {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: apiService },
        spec: {
          group: 'resources.kapis.io',
          version: 'v1alpha3',
          groupPriorityMinimum: 1000,
          versionPriority: 100,
          service: { namespace: 'default', name: 'theirs' },
        },
      }
      await cluster.output(['create', '-f', '-'], JSON.stringify(theirs))
      await names([['apiservice', /belongs to the Service default\/theirs/, /kubectl delete apiservice/]])
      await kubectl('delete', 'apiservice', apiService)
    })

    it('reports missing CRDs and a missing Service', async () => {
      await kubectl('delete', 'crd', 'users.iam.kapis.io')
      await names([['custom-resources', /users\.iam\.kapis\.io is missing/, /apply the manifests again/]])
      await kubectl('-n', namespace, 'delete', 'service', 'kapis')
      await names([['service', /the Service kapis-system\/kapis is missing/, /apply the manifests again/]])
    })

    it('reports an empty namespace', async () => {
      await names(
        [['service', /namespace nowhere not found: Kapis is not installed there/, /--namespace/]],
        '-n',
        'nowhere',
      )
    })
  })
})

function findingsOf({ checks }: Report, name: string): readonly Finding[] {
  return checks.find(({ check }) => check === name)?.findings ?? []
}
