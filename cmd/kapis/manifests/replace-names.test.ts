import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { parseConfig } from '../../../pkg/config/config.ts'
import { manifestsFolder } from './build.ts'
import { baseNames, platformNames, replaceNames } from './replace-names.ts'

const to = { groupDomain: 'platform.example.org', namespace: 'elsewhere' }

describe('replaceNames', () => {
  const cases: readonly [string, string][] = [
    ['name: users.iam.kapis.io', 'name: users.iam.platform.example.org'],
    ['issuer: https://kapis.kapis-system.svc/oauth', 'issuer: https://kapis.elsewhere.svc/oauth'],
    [
      'resourceNames: [v1alpha3.resources.kapis.io]',
      'resourceNames: [v1alpha3.resources.platform.example.org]',
    ],
    ['namespace: kapis-system\n', 'namespace: elsewhere\n'],
    ['notkapis.io kapis.iot kapis-io kapis-system-2', 'notkapis.io kapis.iot kapis-io kapis-system-2'],
    ['app.kubernetes.io/name: kapis', 'app.kubernetes.io/name: kapis'],
  ]
  for (const [text, expected] of cases) {
    it(`turns ${JSON.stringify(text)} into ${JSON.stringify(expected)}`, () => {
      expect(replaceNames(text, baseNames, to)).to.equal(expected)
    })
  }

  it('does not replace a placeholder in an inserted value', () => {
    const swapped = { groupDomain: 'kapis-system', namespace: 'kapis.io' }
    expect(replaceNames('kapis.io kapis-system', baseNames, swapped)).to.equal('kapis-system kapis.io')
  })
})

describe('manifests/base', () => {
  const read = (name: string) => readFileSync(join(manifestsFolder, 'base', name), 'utf8')

  it('contains a configuration that the programs accept', () => {
    const { config } = parseConfig(parse(read('config/kapis.yaml')))
    expect(config.groupDomain).to.equal(baseNames.groupDomain)
    expect(config.kubernetes).to.deep.equal({ kubeconfig: '', namespace: baseNames.namespace })
  })

  it('lists every file of its folder', () => {
    const { resources } = parse(read('kustomization.yaml'))
    const files = globSync('**/*.yaml', { cwd: join(manifestsFolder, 'base') })
    expect(resources).to.have.members(files.filter(name => !/^kustomization|^config\//.test(name)))
  })
})

describe('manifests/overlays', () => {
  const read = (name: string): object => parse(readFileSync(join(manifestsFolder, name), 'utf8'))
  const base = read('base/config/kapis.yaml')
  const platform = parse(replaceNames(JSON.stringify(base), baseNames, platformNames))
  const folder = '/var/lib/kapis/logs'
  const url = 'https://opensearch-cluster-master.opensearch.svc:9200'
  const commandLine = {
    name: 'kapis-cli',
    public: true,
    grantMethod: 'prompt',
    grantTypes: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    redirectURIs: ['http://127.0.0.1/callback'],
  }
  const expected: Readonly<Record<string, object>> = {
    default: { ...base, logs: { store: 'embedded', embedded: { folder } } },
    opensearch: { ...base, logs: { store: 'opensearch', opensearch: { url } } },
    kubesphere: {
      ...platform,
      http: { enabled: true, port: 9090 },
      service: { ...platform.service, name: 'ks-apiserver' },
      oauth: {
        ...platform.oauth,
        issuer: 'https://ks-apiserver.kubesphere-system.svc/oauth',
        clients: [{ name: 'kubesphere', secret: 'kubesphere', trusted: true }, commandLine],
      },
    },
  }

  it('have a separate configuration if they differ from the base', () => {
    const files = globSync('*/config/*', { cwd: join(manifestsFolder, 'overlays') })
    expect(files).to.have.members(Object.keys(expected).map(name => `${name}/config/kapis.yaml`))
  })

  for (const [name, config] of Object.entries(expected)) {
    it(`${name}: its configuration equals that of the base except for its purpose`, () => {
      const own = read(`overlays/${name}/config/kapis.yaml`)
      expect(own).to.deep.equal(config)
      expect(() => parseConfig(own)).to.not.throw()
    })
  }
})
