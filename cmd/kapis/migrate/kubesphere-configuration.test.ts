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
    ])
      expect(read(document)).to.deep.equal({ logging: { host: 'a' } })
  })

  it('rejects a pipe without blocking', () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    expect(() => readSource(pipe)).to.throw(`${pipe} is not a regular file`)
  })

  it('reports what is wrong without quoting the file', () => {
    for (const [document, message] of [
      ['password: "secret', 'is not valid YAML'],
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
