import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createCa } from '../../../pkg/certs/issue.ts'
import { findServer, findTarget, parseServer, readCertificates, tokenFromEnvironment } from './find-login.ts'
import { listLogins, removeLogin, type StoredLogin, writeCurrent, writeLogin } from './login-store.ts'
import { loginCommand } from './refresh-login.ts'

const a = 'https://a.test'
const b = 'https://b.test'

describe('the login that a command uses', () => {
  let home: string
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'kapis-store-'))
  })
  afterEach(() => rmSync(home, { recursive: true }))

  const io = (env: Readonly<Record<string, string>> = {}) => ({
    out: () => undefined,
    err: () => undefined,
    env: { KAPIS_HOME: home, ...env },
    signal: new AbortController().signal,
    version: '0',
  })
  const login = (url: string, name: string, more: Partial<StoredLogin> = {}): StoredLogin => ({
    url,
    name,
    ca: '',
    issuer: '',
    username: name,
    clientId: 'c',
    clientSecret: '',
    accessToken: `token of ${name}`,
    refreshToken: 'r',
    issuedAtMs: 1,
    expiresAtMs: 1,
    ...more,
  })
  const store = (...logins: readonly StoredLogin[]) => {
    for (const each of logins) writeLogin(io().env, each)
  }
  const found = (values: Parameters<typeof findTarget>[0], env = {}, isExact = false) => {
    const { server, login: used } = findTarget(values, io(env), isExact)
    return `${server.url} ${used?.name ?? 'none'}`
  }

  it('is found without waiting, if the CA is a named pipe', () => {
    const pipe = join(home, 'pipe')
    execFileSync('mkfifo', [pipe])
    const message = `${pipe} is not a regular file`
    expect(() => findServer({ server: a, 'certificate-authority': pipe }, io())).to.throw(
      `invalid --certificate-authority ${pipe}: ${message}`,
    )
    const env = { KAPIS_CA: pipe }
    expect(() => findServer({ server: a }, io(env))).to.throw(`invalid KAPIS_CA ${pipe}: ${message}`)
    expect(() => readCertificates('/dev/zero', '--kube-ca')).to.throw('/dev/zero is not a regular file')
  })

  it('is found by server and context: users of one server have separate logins', () => {
    store(login(a, 'ali'), login(a, 'adm'), login(b, 'ali'))
    expect(found({ server: a, context: 'ali' })).to.equal(`${a} ali`)
    expect(found({ server: a, context: 'adm' })).to.equal(`${a} adm`)
    expect(found({ server: a, context: 'other' })).to.equal(`${a} none`)
    expect(found({ context: 'adm' })).to.equal(`${a} adm`)
    expect(() => found({ context: 'ali' })).to.throw(
      `2 servers have a login "ali"; choose one with --server (${a}, ${b})`,
    )
    expect(() => found({ context: 'nonexistent' })).to.throw(
      'unknown login "nonexistent"; stored logins: adm, ali',
    )
    removeLogin(io().env, { url: a, name: 'ali' })
    expect(listLogins(io()).map(({ url, name }) => `${url} ${name}`)).to.deep.equal([`${a} adm`, `${b} ali`])
  })

  it('is the current one without arguments, but not for a plugin that names only its server', () => {
    store(login(a, 'ali'), login(a, 'adm'), login(b, 'b'))
    expect(() => found({})).to.throw('there are several logins: choose one with --context (adm, ali, b)')
    writeCurrent(io().env, { url: a, name: 'ali' })
    expect(found({})).to.equal(`${a} ali`)
    expect(found({ server: a })).to.equal(`${a} ali`)
    expect(found({ server: b })).to.equal(`${b} b`)
    expect(() => found({ server: a }, {}, true)).to.throw(
      `there are several logins at ${a}: choose one with --context (adm, ali)`,
    )
    expect(found({ server: b }, {}, true)).to.equal(`${b} b`)
  })

  it('is the one at KAPIS_URL without server and context', () => {
    store(login(a, 'ali'), login(b, 'b'))
    writeCurrent(io().env, { url: a, name: 'ali' })
    expect(found({}, { KAPIS_URL: `${b}/` })).to.equal(`${b} b`)
    expect(found({ context: 'ali' }, { KAPIS_URL: b })).to.equal(`${a} ali`)
    expect(found({ server: 'https://c.test' }, { KAPIS_URL: b })).to.equal('https://c.test none')
  })

  it('is renewed by a printed command that a shell does not expand', () => {
    expect(loginCommand({ url: a, name: 'ali' })).to.equal(`kapis login --server ${a} --context ali`)
    expect(loginCommand({ url: 'https://[::1]:1', name: '$(id)' })).to.equal(
      "kapis login --server 'https://[::1]:1' --context '$(id)'",
    )
  })

  it('is the only login if there is one', () => {
    expect(() => found({})).to.throw('not logged in: run `kapis login --server URL`')
    store(login(a, 'ali'))
    expect(found({})).to.equal(`${a} ali`)
  })

  it('includes the CA of its server', () => {
    const [first, second] = [1, 2].map(n => createCa({ commonName: `ca ${n}`, validityDays: 1 }).certPem)
    if (first === undefined || second === undefined) throw new Error('no certificates')
    store(login(a, 'ali', { ca: first }), login(a, 'adm'), login(b, 'b'))
    expect(findTarget({ server: a, context: 'ali' }, io()).server.ca).to.equal(first)
    expect(findTarget({ server: a, context: 'adm' }, io()).server.ca).to.equal(first)
    expect(findTarget({ server: b }, io()).server.ca).to.equal('')
    expect(findServer({ server: a, context: 'new' }, io()).ca).to.equal(first)
    const file = join(home, 'second.crt')
    writeFileSync(file, second)
    expect(findTarget({ server: a, context: 'ali', 'certificate-authority': file }, io()).server.ca).to.equal(
      second,
    )
    expect(findTarget({ server: b }, io({ KAPIS_CA: file })).server.ca).to.equal(second)
    // KAPIS_CA only applies to KAPIS_URL.
    expect(findTarget({ server: b }, io({ KAPIS_CA: file, KAPIS_URL: a })).server.ca).to.equal('')
    writeFileSync(file, 'no certificate')
    expect(() => findTarget({ server: a, 'certificate-authority': file, context: 'ali' }, io())).to.throw(
      `invalid --certificate-authority ${file}: no PEM certificate found`,
    )
    expect(() => findTarget({ server: b }, io({ KAPIS_CA: `${file}.none` }))).to.throw('invalid KAPIS_CA')
  })

  it('is stored in a file that only its owner can read, whose name cannot be chosen by a server or context name', () => {
    store(login(a, '../../x'))
    const [file = ''] = readdirSync(join(home, 'logins'))
    expect(file).to.match(/^[\da-f]{16}\.json$/)
    expect(statSync(join(home, 'logins', file)).mode & 0o777).to.equal(0o600)
    expect(statSync(join(home, 'logins')).mode & 0o777).to.equal(0o700)
  })
})

describe('parseServer', () => {
  it('accepts https, and http for loopback addresses only', () => {
    for (const text of [
      'https://a.test',
      'https://a.test/x?y',
      'http://localhost:1',
      'http://127.0.0.1:1',
      'http://[::1]:1',
    ])
      expect(parseServer(text, '--server')).to.equal(new URL(text).origin)
    const refused: readonly [string, string][] = [
      ['a.test', 'expected https://host[:port]'],
      ['ftp://a.test', 'expected https://host[:port]'],
      ['javascript:1', 'expected https://host[:port]'],
      ['http://a.test', 'expected https (http is only supported for localhost)'],
      ['http://localhost.test', 'expected https (http is only supported for localhost)'],
    ]
    for (const [text, why] of refused)
      expect(() => parseServer(text, '--server')).to.throw(`invalid --server ${JSON.stringify(text)}: ${why}`)
    expect(() => parseServer('https://u:secret@a.test', '--server'))
      .to.throw('a URL with a user name or password is not supported')
      .and.not.match(/secret/)
  })
})

describe('KAPIS_TOKEN', () => {
  it('is used for KAPIS_URL if that is set', () => {
    const io = {
      out: () => undefined,
      err: () => undefined,
      signal: new AbortController().signal,
      version: '0',
    }
    const token = (env: Readonly<Record<string, string>>, url?: string) =>
      tokenFromEnvironment({ ...io, env }, url)
    expect(token({ KAPIS_TOKEN: 't' }, a)).to.equal('t')
    expect(token({ KAPIS_TOKEN: 't', KAPIS_URL: `${a}/` }, a)).to.equal('t')
    expect(token({ KAPIS_TOKEN: 't', KAPIS_URL: a })).to.equal('t')
    expect(token({ KAPIS_TOKEN: 't', KAPIS_URL: a }, b)).to.equal(undefined)
    expect(token({ KAPIS_TOKEN: '' }, a)).to.equal(undefined)
    expect(token({ KAPIS_TOKEN: 'a b', KAPIS_URL: a }, b)).to.equal(undefined)
    for (const bad of [' ', 'a\n', 'a\nb', 'Bearer a', '"a"', 'ä'])
      expect(() => token({ KAPIS_TOKEN: bad }, a)).to.throw(
        /^invalid KAPIS_TOKEN: expected an access token, without blanks or line breaks$/,
      )
  })
})
