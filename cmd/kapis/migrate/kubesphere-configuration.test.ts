import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readSource } from './kubesphere-configuration.ts'

describe('readSource', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-source-'))
  after(() => rmSync(folder, { recursive: true }))
  const read = (document: unknown) => {
    const file = join(folder, 'file')
    writeFileSync(file, typeof document === 'string' ? document : JSON.stringify(document))
    return readSource(file)
  }
  const text = 'logging: {host: a}\n'

  it('reads the configuration from a file, a ConfigMap or a Secret', () => {
    const base64 = Buffer.from(text).toString('base64')
    for (const document of [
      text,
      { kind: 'ConfigMap', data: { 'kubesphere.yaml': text } },
      { kind: 'Secret', data: { 'kubesphere.yaml': base64 } },
      { kind: 'Secret', stringData: { 'kubesphere.yaml': text } },
      { kind: 'ConfigMap', binaryData: { 'kubesphere.yaml': base64 } },
      { kind: 'ConfigMap', data: { 'kubesphere.yaml': text.replace('\n', '\r\n') } },
      `\ufeff# first\r\n---\r\n${text}...\r\n`,
      { kind: 'List', items: [{ kind: 'ConfigMap', data: { 'kubesphere.yaml': text } }] },
      {
        kind: 'ConfigMapList',
        items: [
          { kind: 'ConfigMap', data: { other: 'a: 1' } },
          { kind: 'ConfigMap', data: { 'kubesphere.yaml': text } },
        ],
      },
      `kind: Service\n---\nkind: ConfigMap\ndata: {kubesphere.yaml: "logging: {host: a}"}\n---\n`,
    ])
      expect(read(document)).to.deep.equal({ configuration: { logging: { host: 'a' } }, repeated: [] })
  })

  it('uses the last of repeated keys, which the installer writes, and reports each', () => {
    for (const [given, configuration, repeated] of [
      // ks-installer adds accessTokenMaxAge for a member cluster, and clients for any, to those of its configuration.
      [
        'oauthOptions: {accessTokenMaxAge: 1h, clients: [{name: a}], accessTokenMaxAge: 0, clients: [{name: b}]}',
        { oauthOptions: { accessTokenMaxAge: 0, clients: [{ name: 'b' }] } },
        ['oauthOptions.accessTokenMaxAge', 'oauthOptions.clients'],
      ],
      ['a: 1\na: 2\na: 3', { a: 3 }, ['a']],
      ['a: [{b: 1, b: 2}]', { a: [{ b: 2 }] }, ['a[0].b']],
      ['a: &shared {b: 1}\nc: {<<: *shared, b: 2, d: 3}', { a: { b: 1 }, c: { b: 2, d: 3 } }, []],
    ] as const) {
      expect(read(given), given).to.deep.equal({ configuration, repeated })
      const configMap = { kind: 'ConfigMap', data: { 'kubesphere.yaml': given } }
      expect(read(configMap), given).to.deep.equal({ configuration, repeated })
    }
  })

  it('rejects a pipe without blocking', () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    expect(() => readSource(pipe)).to.throw(`${pipe} is not a regular file`)
  })

  it('reports what is wrong without quoting the file', () => {
    for (const [document, message] of [
      ['password: "secret', 'is not valid YAML (line 1, column 18)'],
      ['password: *secret', 'has too many aliases, or an unknown one'],
      ['', 'is not a configuration'],
      ['# secret', 'is not a configuration'],
      [{ kind: 'List', items: [] }, 'is not a configuration'],
      [`${text}---\n${text}`, 'has 2 configurations; expected one'],
      [{ kind: 'Secret', data: { 'kubesphere.yaml': 'secret' } }, 'is not a configuration'],
      ['secret', 'is not a configuration'],
      ['[1]', 'is not a configuration'],
      [{ kind: 'ConfigMap', data: {} }, 'the ConfigMap has no kubesphere.yaml'],
      [
        { kind: 'ClusterConfiguration', spec: { password: 'secret' } },
        'is a ClusterConfiguration; expected kubesphere.yaml, or the ConfigMap or Secret that holds it',
      ],
    ] as const) {
      expect(() => read(document))
        .to.throw(message)
        .with.property('message')
        .that.does.not.include('secret')
    }
  })
})
