import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { ConfigError } from './config-error.ts'
import { loadConfig } from './load.ts'

describe('loadConfig', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-config-'))
  after(() => rmSync(folder, { recursive: true }))

  function file(name: string, text: string | Buffer): string {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }

  it('requires no file', () => {
    expect(loadConfig({ env: {} }).config.groupDomain).to.equal('kapis.io')
  })

  for (const [name, text] of [
    ['a.yaml', 'groupDomain: a.io # comment\nlisten:\n  port: 8443\n'],
    ['a.json', '{"groupDomain": "a.io", "listen": {"port": 8443}}'],
  ] as const) {
    it(`reads ${name}`, () => {
      const { config } = loadConfig({ configFile: file(name, text), env: {} })
      expect([config.groupDomain, config.listen.port]).to.deep.equal(['a.io', 8443])
    })
  }

  it('gives environment variables precedence over the file', () => {
    const path = file('b.yaml', 'groupDomain: a.io\nservice: {name: x}\n')
    const { config } = loadConfig({
      configFile: path,
      env: { KAPIS_GROUP_DOMAIN: 'b.io', KAPIS_SERVICE_PORT: '8' },
    })
    expect(config.groupDomain).to.equal('b.io')
    expect(config.service).to.deep.equal({ name: 'x', port: 8 })
  })

  it('treats an empty file as one without options', () => {
    expect(loadConfig({ configFile: file('empty.yaml', ''), env: {} }).config.groupDomain).to.equal(
      'kapis.io',
    )
  })

  it('gives flags precedence over environment variables and the file', () => {
    const configFile = file('level.yaml', 'logLevel: warn\n')
    const level = (flags: Record<string, string>, env: Record<string, string>) =>
      loadConfig({ configFile, flags, env }).config.logLevel
    expect(level({}, {})).to.equal('warn')
    expect(level({}, { KAPIS_LOG_LEVEL: 'error' })).to.equal('error')
    expect(level({ KAPIS_LOG_LEVEL: 'debug' }, { KAPIS_LOG_LEVEL: 'error' })).to.equal('debug')
    expect(() => level({ KAPIS_LOG_LEVEL: 'loud' }, {})).to.throw(ConfigError, /logLevel: must be/)
  })

  const refused: readonly [string, () => string, string, RegExp][] = [
    ['a missing file', () => join(folder, 'none'), '--config', /ENOENT/],
    [
      'broken YAML',
      () => file('c.yaml', 'a: [1'),
      '--config',
      /^is not valid YAML \(\w+ at line 1, column 6\)$/,
    ],
    [
      'a quote in a secret, which is not repeated',
      () => file('g.yaml', 'oauth:\n  clients:\n  - secret: "hunter2\n'),
      '--config',
      /^is not valid YAML \(MISSING_CHAR at line 4, column 1\)$/,
    ],
    [
      'another encoding',
      () => file('h.yaml', Buffer.from('a: \u00fc', 'latin1')),
      '--config',
      /^is not valid UTF-8$/,
    ],
    ['a duplicate key', () => file('d.yaml', 'a: 1\na: 2'), '--config', /DUPLICATE_KEY at line 2/],
    ['a list', () => file('e.yaml', '- a'), '(document)', /^must be a mapping$/],
  ]
  for (const [what, configFile, path, message] of refused) {
    it(`rejects ${what}`, () => {
      try {
        loadConfig({ configFile: configFile(), env: {} })
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        expect(error.problems).to.have.length(1)
        expect(error.problems[0]?.path).to.equal(path)
        expect(error.problems[0]?.message).to.match(message)
        return
      }
      throw new Error('nothing was thrown')
    })
  }

  it('reports an invalid environment variable like an invalid option of the file', () => {
    expect(() => loadConfig({ env: { KAPIS_LISTEN_PORT: 'x', KAPIS_GROUP_DOMAIN: '_' } }))
      .to.throw(ConfigError)
      .with.property('message')
      .that.matches(/^invalid configuration:\n {2}groupDomain: .*\n {2}listen\.port: /)
  })
})
