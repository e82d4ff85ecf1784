import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readContext, toPlainCredentials } from './kubeconfig.ts'

const readPlain = (...files: readonly string[]) => toPlainCredentials(readContext(files))

describe('toPlainCredentials', () => {
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
    return readPlain(join(folder, 'config'))
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
    expect(() => readPlain(pipe)).to.throw(message)
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

  it('rejects a file that is not YAML, without quoting it', () => {
    const path = join(folder, 'config')
    for (const [content, problem] of [
      ['users:\n- user: {token: hunter2\n', 'is not valid YAML (BAD_INDENT at line 3, column 1)'],
      ['users: *hunter2', 'has aliases that cannot be resolved'],
    ] as const) {
      put('config', content)
      expect(() => readContext([path]))
        .to.throw()
        .with.property('message', `the kubeconfig ${path} ${problem}`)
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

describe('readContext', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-contexts-'))
  after(() => rmSync(folder, { recursive: true }))

  /** Writes each file into its own folder, and returns the paths. */
  const put = (documents: Readonly<Record<string, object>>): readonly string[] =>
    Object.entries(documents).map(([name, document]) => {
      mkdirSync(join(folder, name), { recursive: true })
      writeFileSync(join(folder, name, 'config'), JSON.stringify(document))
      return join(folder, name, 'config')
    })
  const cluster = (server: string, more: object = {}) => [{ name: 'c', cluster: { server, ...more } }]
  const context = (user = 'u', name = 'here') => [{ name, context: { cluster: 'c', user } }]

  it('merges files: context, cluster and user may come from three, each with its own relative paths', async () => {
    const files = put({
      a: { contexts: context(), clusters: [] },
      b: { clusters: cluster('https://b:1', { 'certificate-authority': 'ca.crt' }), users: null },
      c: { 'current-context': 'here', users: [{ name: 'u', user: { tokenFile: '../token' } }] },
      d: {
        'current-context': 'x',
        clusters: cluster('https://d:1'),
        users: [{ name: 'u', user: { token: 'D' } }],
      },
    })
    writeFileSync(join(folder, 'b', 'ca.crt'), 'CA of b')
    writeFileSync(join(folder, 'token'), 'T')
    const credentials = readPlain(...files)
    expect(credentials?.server).to.equal('https://b:1')
    expect(await credentials?.options()).to.deep.equal({
      ca: 'CA of b',
      headers: { Authorization: 'Bearer T' },
    })
  })

  it('takes each name from the first file that has it, and the first current context that is not empty', () => {
    const [first = '', second = ''] = put({
      e: { 'current-context': '', contexts: context('u', 'other'), clusters: cluster('https://e:1') },
      f: { 'current-context': 'here', contexts: context('f'), clusters: cluster('https://f:1'), users: [] },
    })
    expect(readContext([first, second])).to.deep.equal({
      name: 'here',
      context: { cluster: 'c', user: 'f' },
      cluster: { server: 'https://e:1' },
      user: undefined,
    })
    expect(readContext([second, first]).cluster).to.deep.equal({ server: 'https://f:1' })
    expect(readContext([first])).to.deep.include({ name: undefined, context: undefined })
  })

  it('finds an exec plugin relative to its file, or in PATH', () => {
    const exec = (command: string) => ({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command } })
    for (const [command, found] of [
      ['./bin/plugin', join(folder, 'g', 'bin/plugin')],
      ['kapis', 'kapis'],
      ['/usr/bin/kapis', '/usr/bin/kapis'],
    ] as const) {
      const files = put({
        g: { 'current-context': 'here', contexts: context(), users: [{ name: 'u', user: exec(command) }] },
        h: { clusters: cluster('https://h:1') },
      })
      expect(readContext(files).user).to.deep.equal(exec(found))
      expect(readPlain(...files)).to.equal(undefined)
    }
  })
})
