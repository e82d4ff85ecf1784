import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect } from 'chai'
import { parseAllDocuments } from 'yaml'
import { baseNames, platformNames } from '../../cmd/kapis/manifests/replace-names.ts'
import { repository } from '../../hack/controlplane/settings.ts'
import { parseConfig } from '../../pkg/config/config.ts'
import { withEnvironment } from '../../pkg/config/env.ts'
import { eventually } from '../e2e/http.ts'
import { run, scratch } from '../e2e/run.ts'
import { bareCluster, type Cluster } from '../installation/control-plane.ts'
import { moduleFile } from '../installation/go-module.ts'
import { uninstall } from '../installation/uninstall.ts'

const overlays = ['default', 'ha', 'kubesphere', 'monitoring', 'opensearch'] as const
/** The real CRDs of custom resources that the manifests contain. */
const definitions = [
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    folder: 'example/prometheus-operator-crd/monitoring.coreos.com_',
    names: ['servicemonitors', 'prometheusrules'],
  },
  {
    module: 'github.com/cert-manager/cert-manager@v1.21.2',
    folder: 'deploy/crds/cert-manager.io_',
    names: ['certificates', 'issuers'],
  },
]
/** Each example with the overlay that it requires. */
const examples = { production: undefined, 'cert-manager': undefined, reader: 'default' } as const
type Endpoint = { readonly tlsConfig: { readonly ca: { readonly secret: { name: string; key: string } } } }
const folderOf = (overlay: string) => join(repository, 'manifests/overlays', overlay)

describe('manifests', function () {
  this.timeout(400_000)
  let cluster: Cluster

  before(async () => {
    cluster = await bareCluster()
    for (const { module, folder, names } of definitions) {
      for (const name of names) {
        await cluster.output([
          'apply',
          '--server-side',
          '-f',
          await moduleFile(module, `${folder}${name}.yaml`),
        ])
      }
    }
    // Repeated: kubectl fails if kube-apiserver has not reported conditions of a CRD yet.
    const established = ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']
    await eventually(() => cluster.output(established), 30_000)
  })

  for (const overlay of overlays) {
    it(`overlays/${overlay}: can be applied twice without a change, and deleted completely`, async () => {
      const { output, kubectl } = cluster
      const folder = folderOf(overlay)
      const names = await objectNames(cluster, folder)
      const first = await kubectl(['apply', '-k', folder, '--validate=strict'])
      expect([first.code, first.stderr]).to.deep.equal([0, ''])
      expect(words(first.stdout), first.stdout).to.deep.equal(new Set(['created']))

      const again = await output(['apply', '-k', folder])
      // kubectl always sends the selector of a PodDisruptionBudget and reports `configured`,
      // although nothing changes.
      const normalized = again.replace(/^(poddisruptionbudget.* )configured$/m, '$1unchanged')
      expect(words(normalized), again).to.deep.equal(new Set(['unchanged']))
      expect((await kubectl(['diff', '-k', folder])).stdout).to.equal('')
      const server = await kubectl(['apply', '--server-side', '-k', folder])
      expect([server.code, server.stderr]).to.deep.equal([0, ''])

      await uninstall(cluster, ['-k', folder])
      const left = await kubectl(['get', '-k', folder, '--ignore-not-found', '-o', 'name'])
      expect([left.code, left.stdout], left.stderr).to.deep.equal([0, ''])
      expect(names).to.include.members(['apiservice', 'customresourcedefinition', 'deployment', 'service'])
    })
  }

  for (const [example, needs] of Object.entries(examples)) {
    it(`examples/${example} can be applied, and deleted again`, async () => {
      if (needs !== undefined) await cluster.output(['apply', '-k', folderOf(needs)])
      const folder = join(repository, 'examples', example)
      const ran = await cluster.kubectl(['apply', '-k', folder])
      expect([ran.code, ran.stderr]).to.deep.equal([0, ''])
      if (needs !== undefined) await cluster.output(['delete', '-k', folder])
      await uninstall(cluster, ['-k', needs === undefined ? folder : folderOf(needs)])
    })
  }

  it('lists every example', () => {
    const folders = readdirSync(join(repository, 'examples'), { withFileTypes: true })
    const isApplied = (name: string) => existsSync(join(repository, 'examples', name, 'kustomization.yaml'))
    const names = folders.map(({ name }) => name).filter(isApplied)
    expect(Object.keys(examples)).to.have.members(names)
  })

  it('are printed by `kapis manifests`', async () => {
    for (const overlay of overlays) {
      const folder = await cluster.output(['kustomize', folderOf(overlay)])
      const printed = await kapis('--overlay', overlay)
      expect(printed).to.deep.equal({ code: 0, stdout: folder, stderr: '' })
    }
  })

  it('support any group domain, namespace and image', async () => {
    const args = [
      '--group-domain',
      'platform.example.org',
      '-n',
      'elsewhere',
      '--image',
      'registry:5000/a/kapis:9',
    ]
    const { stdout } = await kapis(...args, '--replicas', '3')
    expect(stdout).to.not.match(/(?<![\w-])(kapis\.io|kapis-system)(?![\w-])/)
    expect(stdout.match(/image: (.*)/g)).to.deep.equal(Array(2).fill('image: registry:5000/a/kapis:9'))
    for (const line of ['name: users.iam.platform.example.org', 'namespace: elsewhere', 'replicas: 3']) {
      expect(stdout).to.include(line)
    }
    const ran = await cluster.kubectl(['apply', '-f', '-'], stdout)
    expect([ran.code, ran.stderr]).to.deep.equal([0, ''])
    await uninstall(cluster, ['-f', '-'], stdout)
  })

  for (const overlay of overlays) {
    it(`overlays/${overlay}: a custom configuration is used by both programs`, async () => {
      const { groupDomain, namespace } = overlay === 'kubesphere' ? platformNames : baseNames
      const own = {
        groupDomain,
        kubernetes: { namespace },
        service: { name: 'own' },
        http: { enabled: true, port: 8080 },
        oauth: { issuer: 'https://own.example.org/oauth' },
        logs: { store: 'opensearch', opensearch: { url: 'https://own.example.org' } },
      }
      const folder = join(scratch, `own-${overlay}`)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'kapis.yaml'), JSON.stringify(own))
      const generator = { name: 'kapis-config', namespace, behavior: 'replace', files: ['kapis.yaml'] }
      const kustomization = {
        resources: [relative(folder, folderOf(overlay))],
        configMapGenerator: [generator],
      }
      writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
      const text = await cluster.output(['kustomize', folder])
      const objects = parseAllDocuments(text).map(document => document.toJS())
      const { spec } = objects.find(({ kind }) => kind === 'Deployment').spec.template
      const { name } = spec.volumes.find((volume: { name: string }) => volume.name === 'config').configMap
      const mounted = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)
      expect(mounted.data).to.deep.equal({ 'kapis.yaml': JSON.stringify(own) })
      for (const { env = [] } of [...spec.initContainers, ...spec.containers]) {
        const set = Object.fromEntries(
          env.map((one: { name: string; value: string }) => [one.name, one.value]),
        )
        expect(parseConfig(withEnvironment(own, set))).to.deep.equal(parseConfig(own))
      }
    })
  }

  it('are customized as docs/installation.md describes', async () => {
    const manual = readFileSync(join(repository, 'docs/installation.md'), 'utf8')
    const shown = [...manual.matchAll(/^```yaml\n(resources:[\s\S]*?)^```/gm)].map(([, text = '']) => text)
    expect(shown).to.have.length(2)
    for (const [i, text] of shown.entries()) {
      const folder = join(scratch, `shown-${i}`)
      mkdirSync(folder, { recursive: true })
      const place = `[${relative(folder, join(repository, 'manifests'))}/`
      writeFileSync(join(folder, 'kustomization.yaml'), text.replace('[../manifests/', place))
      writeFileSync(join(folder, 'kapis.yaml'), 'logLevel: warn\n')
      const objects = parseAllDocuments(await cluster.output(['kustomize', folder])).map(one => one.toJS())
      const { spec } = objects.find(({ kind }) => kind === 'Deployment').spec.template
      const config = spec.volumes.find((volume: { name: string }) => volume.name === 'config')
      const name = config.configMap?.name ?? config.secret.secretName
      const kind = config.configMap === undefined ? 'Secret' : 'ConfigMap'
      expect(kind).to.equal(['ConfigMap', 'Secret'][i])
      const { data } = objects.find(one => one.kind === kind && one.metadata.name === name)
      const file = data['kapis.yaml']
      expect(kind === 'Secret' ? Buffer.from(file, 'base64').toString() : file).to.equal('logLevel: warn\n')
    }
  })

  it('with cert-manager do not wait for a Secret that Kapis would create', async () => {
    const folder = join(scratch, 'all-components')
    mkdirSync(folder, { recursive: true })
    const place = (path: string) => relative(folder, join(repository, 'manifests', path))
    const components = ['monitoring', 'fluent-bit', 'cert-manager'].map(name => place(`components/${name}`))
    const kustomization = { resources: [place('overlays/ha')], components }
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
    const objects = parseAllDocuments(await cluster.output(['kustomize', folder])).map(one => one.toJS())
    const monitor = objects.find(({ kind }) => kind === 'ServiceMonitor')
    const trusted = monitor.spec.endpoints.map((one: Endpoint) => one.tlsConfig.ca.secret)
    expect(trusted).to.deep.equal(Array(2).fill({ name: 'kapis-tls', key: 'ca.crt' }))
    const { volumes } = objects.find(({ kind }) => kind === 'DaemonSet').spec.template.spec
    const authority = volumes.find(({ name }: { name: string }) => name === 'authority')
    expect(authority.secret.secretName).to.equal('kapis-tls')
    const certificate = objects.find(
      ({ kind, spec }) => kind === 'Certificate' && spec.secretName === 'kapis-tls',
    )
    expect(certificate.metadata.namespace).to.equal('kapis-system')
  })

  it('contain no name of kapis.io in the kubesphere overlay', async () => {
    const text = await cluster.output(['kustomize', folderOf('kubesphere')])
    expect(text).to.not.match(/(?<![\w-])(kapis\.io|kapis-system)(?![\w-])/)
  })

  function kapis(...args: readonly string[]) {
    return run(process.execPath, ['cmd/kapis/main.ts', 'manifests', ...args], {
      env: cluster.env,
      cwd: repository,
    })
  }
})

/** Returns the last words of all lines of `kubectl apply`. */
function words(text: string): Set<string> {
  return new Set(
    text
      .trim()
      .split('\n')
      .map(line => line.split(' ').at(-1) ?? ''),
  )
}

async function objectNames({ output }: Cluster, folder: string): Promise<readonly string[]> {
  const text = await output(['kustomize', folder])
  return [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind = '']) => kind.toLowerCase())
}
