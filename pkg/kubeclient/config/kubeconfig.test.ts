import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readPlainKubeconfig } from './kubeconfig.ts'

describe('readPlainKubeconfig', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-kubeconfig-'))
  after(() => rmSync(folder, { recursive: true }))
  const put = (name: string, content: string) => writeFileSync(join(folder, name), content)
  const base64 = (value: string) => Buffer.from(value).toString('base64')

  function read(cluster: object, user: object, changes: object = {}) {
    const document = {
      'current-context': 'here',
      contexts: [
        { name: 'elsewhere', context: { cluster: 'x', user: 'x' } },
        { name: 'here', context: { cluster: 'c', user: 'u' } },
      ],
      clusters: [{ name: 'c', cluster: { server: 'https://h:1', ...cluster } }],
      users: [{ name: 'u', user }],
      ...changes,
    }
    put('config', JSON.stringify(document))
    return readPlainKubeconfig(join(folder, 'config'))
  }

  it('reads certificates and tokens, inline and in separate files', async () => {
    put('ca.crt', 'CA')
    put('token', 'T2\n')
    const cases = [
      [{}, {}, { headers: {} }],
      [{}, { token: 'T' }, { headers: { Authorization: 'Bearer T' } }],
      [{}, { token: 'T', tokenFile: 'token' }, { headers: { Authorization: 'Bearer T2' } }],
      [{ 'certificate-authority': 'ca.crt' }, {}, { headers: {}, ca: 'CA' }],
      // The format that minikube writes.
      [
        { 'certificate-authority': 'ca.crt', extensions: [{ name: 'cluster_info', extension: {} }] },
        { token: 'T', extensions: [] },
        { headers: { Authorization: 'Bearer T' }, ca: 'CA' },
      ],
      [
        { 'certificate-authority': 'ca.crt', 'certificate-authority-data': base64('DATA') },
        {},
        { headers: {}, ca: 'DATA' },
      ],
      [
        { 'insecure-skip-tls-verify': true, 'tls-server-name': 'n' },
        { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
        { headers: {}, cert: 'CERT', key: 'KEY', servername: 'n', rejectUnauthorized: false },
      ],
    ] as const
    for (const [cluster, user, options] of cases) {
      const credentials = read(cluster, user)
      expect(credentials?.server).to.equal('https://h:1')
      expect(await credentials?.options()).to.deep.equal(options)
    }
  })

  it('rejects a pipe without blocking', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const message = `${pipe} is not a regular file`
    expect(() => readPlainKubeconfig(pipe)).to.throw(message)
    for (const [cluster, user] of [
      [{ 'certificate-authority': 'pipe' }, {}],
      [{}, { 'client-certificate': 'pipe' }],
      [{}, { tokenFile: 'pipe' }],
    ] as const) {
      const error = await read(cluster, user)
        ?.options()
        .catch(thrown => thrown)
      expect(error).to.be.an('error').with.property('message', message)
    }
  })

  it('follows a rotated token file', async () => {
    const credentials = read({}, { tokenFile: 'token' })
    for (const token of ['first', 'second']) {
      put('token', `${token}\n`)
      expect(await credentials?.options()).to.deep.equal({ headers: { Authorization: `Bearer ${token}` } })
    }
  })

  it('leaves files with unknown fields to the library', () => {
    const cases = [
      [{}, { exec: { command: 'x' } }],
      [{}, { 'auth-provider': { name: 'oidc' } }],
      [{}, { username: 'a', password: 'b' }],
      [{}, { token: 'T', as: 'someone' }],
      [{ 'proxy-url': 'http://p' }, { token: 'T' }],
      [{ server: '' }, { token: 'T' }],
      [{}, { token: 'T' }, { 'current-context': 'nowhere' }],
      [{}, { token: 'T' }, { users: [] }],
    ] as const
    for (const [cluster, user, changes] of cases) expect(read(cluster, user, changes)).to.equal(undefined)
  })
})
