import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse, parseAllDocuments } from 'yaml'
import { repository } from '../../hack/controlplane/settings.ts'
import { type CommandResult, run, scratch } from '../e2e/run.ts'
import { ensureHelm } from '../helm/ensure-helm.ts'
import { bareCluster, type Cluster } from '../installation/control-plane.ts'
import { buildVariant, ownNames, variants } from './chart-variants.ts'

type Objects = Readonly<Record<string, unknown>>

const chart = join(repository, 'charts/kapis')
/** Deletes the CRDs with the release, unlike the default of `helm install`. */
const likeManifests = ['--set', 'keepCustomResources=false']
/** Sets a Kubernetes version: without a cluster, Helm assumes that of its own library. */
const template = ['template', 'kapis', chart, '--kube-version', '1.36.0']

describe('charts/kapis', function () {
  this.timeout(1_800_000)
  let cluster: Cluster
  let helm: (args: readonly string[]) => Promise<CommandResult>

  before(async () => {
    cluster = await bareCluster()
    const program = await ensureHelm(line => console.log(`      ${line}`))
    const folders = ['CACHE', 'CONFIG', 'DATA'].map(name => [
      `HELM_${name}_HOME`,
      join(scratch, 'helm', name),
    ])
    const env = { ...cluster.env, ...Object.fromEntries(folders) }
    helm = args => run(program, args, { env, timeoutMs: 120_000 })
  })

  it('has the version of package.json', () => {
    const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
    const { version: own, appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))
    expect([own, appVersion]).to.deep.equal([version, version])
  })

  it('is well-formed', async () => {
    const { code, stdout } = await helm(['lint', '--strict', chart])
    expect(code, stdout).to.equal(0)
  })

  for (const variant of variants) {
    it(`${variant.name}: contains the objects that kustomize creates`, async () => {
      const { namespace = 'kapis-system', ...own } = ownNames[variant.overlay] ?? {}
      const values = { overlay: variant.overlay, ...own }
      const on = Object.fromEntries(variant.components.map(name => [name, { enabled: true }]))
      const rendered = await render(namespace, { ...values, ...on })
      expect(rendered).to.deep.equal(toObjects(buildVariant(variant, 'kubectl')))
    })
  }

  it('contains the objects of `kapis manifests` for the same names, image and replicas', async () => {
    const digest = `sha256:${'0'.repeat(64)}`
    const cases = [
      { image: { repository: 'registry:5000/a/kapis', tag: '9' }, reference: 'registry:5000/a/kapis:9' },
      { image: { repository: 'a/kapis', digest }, reference: `a/kapis@${digest}` },
    ]
    for (const { image, reference } of cases) {
      const names = ['--group-domain', 'platform.example.org', '-n', 'elsewhere', '--replicas', '3']
      const args = ['cmd/kapis/main.ts', 'manifests', '--overlay', 'ha', ...names, '--image', reference]
      const printed = await run(process.execPath, args, { env: cluster.env, cwd: repository })
      expect(printed.code, printed.stderr).to.equal(0)
      const rendered = await render('elsewhere', {
        groupDomain: 'platform.example.org',
        replicas: 3,
        image,
      })
      expect(rendered).to.deep.equal(toObjects(printed.stdout))
    }
  })

  it('merges the configuration, and restarts the Pods after a change', async () => {
    const config = { oauth: { issuer: 'https://kapis.example.org/oauth' }, logLevel: 'debug' }
    const rendered = await helm([...template, '-n', 'a', '--set-json', `config=${JSON.stringify(config)}`])
    const [before, after] = [await helm([...template, '-n', 'a']), rendered].map(({ stdout }) => ({
      name: /kapis-config-\w+/.exec(stdout)?.[0],
      file: configOf(stdout),
    }))
    expect(after?.name).to.not.equal(before?.name)
    expect(after?.file).to.deep.equal({
      ...before?.file,
      logLevel: 'debug',
      oauth: { ...toRecord(before?.file.oauth), issuer: 'https://kapis.example.org/oauth' },
    })
  })

  it('also has the configured issuer when it replaces ks-apiserver', async () => {
    const own = ownNames.kubesphere
    const names = ['-n', `${own?.namespace}`, '--set', `overlay=kubesphere,groupDomain=${own?.groupDomain}`]
    const issuer = 'https://a.test/oauth'
    const { stdout } = await helm([...template, ...names, '--set', `config.oauth.issuer=${issuer}`])
    const { oauth, service } = configOf(stdout)
    expect(oauth).to.include({ issuer, socket: '/run/kapis/oauth.sock' })
    expect(service).to.deep.equal({ name: 'ks-apiserver', port: 443 })
    // Environment variables would take precedence over the configuration.
    expect(stdout).to.not.include('KAPIS_')
  })

  it('names unknown values in its error', async () => {
    for (const [set, words] of [
      ['overlay=huge', 'overlay'],
      ['groupDomain=Example', 'groupDomain'],
      ['replica=3', 'replica'],
      ['replicas=0', 'replicas'],
      ['image.digest=12', 'digest'],
      ['overlay=kubesphere,monitoring.enabled=true', 'monitoring'],
      ['overlay=kubesphere,certManager.enabled=true', 'certManager'],
    ] as const) {
      const { code, stderr } = await helm([...template, '--set', set])
      expect([code, stderr.includes(words)], stderr).to.deep.equal([1, true])
    }
  })

  it('is installed, upgraded and uninstalled in a real cluster; users are kept by default', async () => {
    const { output, kubectl } = cluster
    const namespace = ['-n', 'kapis-chart']
    const release = ['kapis', chart, ...namespace]
    const domain = ['--set', 'groupDomain=chart.example.org']
    await succeed(['install', ...release, '--create-namespace', ...domain])
    await succeed([
      'upgrade',
      ...release,
      '--reuse-values',
      '--set',
      'replicas=1',
      '--set',
      'config.logLevel=warn',
    ])
    const replicas = await output([
      ...namespace,
      'get',
      'deployment',
      'kapis',
      '-o',
      'jsonpath={.spec.replicas}',
    ])
    expect(replicas).to.equal('1')
    // kube-apiserver accepts each rendered object without a warning.
    const { stdout } = await helm(['get', 'manifest', 'kapis', ...namespace])
    const checked = await kubectl(
      ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict', '-f', '-'],
      stdout,
    )
    expect([checked.code, checked.stderr]).to.deep.equal([0, ''])

    await succeed(['uninstall', 'kapis', ...namespace])
    const definitions = ['get', 'crd', '-o', 'name']
    expect(await output(definitions)).to.include('users.iam.chart.example.org')
    expect(await output(['get', 'apiservices', '-o', 'name'])).to.not.include('resources.chart.example.org')
    await succeed(['install', ...release, ...domain, ...likeManifests])
    // kube-apiserver creates the storage of a kind at the first request. If that request deletes
    // the CRD, it may fail because the storage is not ready, and the deletion is retried only
    // minutes later. So each kind is listed first.
    const kinds = (await output(definitions)).split('\n').filter(name => name.endsWith('.chart.example.org'))
    expect(kinds).to.have.length(9)
    for (const kind of kinds) await output(['get', kind.replace(/^[^/]+[/]/, '')])
    await succeed(['uninstall', 'kapis', ...namespace, '--wait'])
    await output(['delete', 'namespace', 'kapis-chart', '--timeout=200s'])
    expect(await output(definitions)).to.not.include('chart.example.org')
  })

  async function succeed(args: readonly string[]) {
    const { code, stdout, stderr } = await helm(args)
    expect(code, `${stdout}${stderr}`).to.equal(0)
  }

  async function render(namespace: string, values: object): Promise<Objects> {
    const file = join(scratch, 'values.json')
    writeFileSync(file, JSON.stringify(values))
    const args = [...template, '-n', namespace, '-f', file, ...likeManifests]
    const { code, stdout, stderr } = await helm(args)
    expect([code, stderr]).to.deep.equal([0, ''])
    return toObjects(stdout)
  }
})

/**
 * Indexes objects by kind and name. The Namespace is omitted, since Helm creates it. The hash in
 * the name of the ConfigMap is removed, since it differs between the tools.
 */
function toObjects(text: string): Objects {
  const name = /kapis-config-\w+/.exec(text)?.[0] ?? ''
  const documents = parseAllDocuments(text.replaceAll(name, 'kapis-config')).map(document => document.toJS())
  const objects = documents.filter(object => object !== null && object.kind !== 'Namespace')
  return Object.fromEntries(
    objects.map(object => {
      const file = object.data?.['kapis.yaml']
      const data = file === undefined ? {} : { data: { ...object.data, 'kapis.yaml': parse(file) } }
      return [`${object.kind} ${object.metadata.name}`, { ...object, ...data }]
    }),
  )
}

function configOf(text: string): Readonly<Record<string, unknown>> {
  const object = toObjects(text)['ConfigMap kapis-config']
  return toRecord(toRecord(toRecord(object).data)['kapis.yaml'])
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
