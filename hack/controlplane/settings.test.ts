import { join } from 'node:path'
import { expect } from 'chai'
import { childEnvironment, loadSettings, repository } from './settings.ts'

describe('loadSettings', () => {
  it('returns defaults without variables', () => {
    const runDir = join(repository, '.run')
    expect(loadSettings({})).to.deep.equal({
      runDir,
      logsDir: join(runDir, 'logs'),
      groupDomain: 'kapis.io',
      nodes: 3,
      pods: 10,
      port: 9443,
      logStore: 'embedded',
      onlyControlPlane: false,
    })
  })

  it('reads the environment variables', () => {
    const settings = loadSettings({
      RUN_DIR: '/x',
      NODES: '5000',
      PODS: '0',
      KAPIS_GROUP_DOMAIN: 'example.org',
    })
    expect(settings).to.include({ runDir: '/x', nodes: 5000, pods: 0, groupDomain: 'example.org' })
  })

  for (const value of ['many', '-1', '1e3', '1000000000']) {
    it(`rejects NODES=${value}`, () => {
      expect(() => loadSettings({ NODES: value })).to.throw(`NODES=${value}: must be a number`)
    })
  }
})

describe('childEnvironment', () => {
  it('removes proxies and the settings of another control plane from the environment', () => {
    const env = {
      PATH: '/bin',
      https_proxy: 'http://proxy',
      NO_PROXY: 'x',
      KUBECONFIG: '/other',
      KAPIS_GROUP_DOMAIN: 'other.org',
      KAPIS_LOG_LEVEL: 'debug',
      RUN_DIR: '/other',
    }
    expect(childEnvironment(env)).to.deep.equal({ PATH: '/bin', KAPIS_LOG_LEVEL: 'debug' })
  })
})
