import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { login as loginCommand } from '../login/command.ts'
import { withFileLock } from './file-lock.ts'
import { findTarget } from './find-login.ts'
import {
  listLogins,
  loginFile,
  loginNames,
  readCurrent,
  readLogin,
  type StoredLogin,
  writeCurrent,
  writeLogin,
} from './login-store.ts'
import { refreshLogin } from './refresh-login.ts'
import { toTokens } from './token-response.ts'

const key = { url: 'https://a.test', name: 'ali' }
const stored: StoredLogin = {
  ...key,
  ca: '',
  issuer: '',
  username: 'ali',
  clientId: 'c',
  clientSecret: '',
  accessToken: 'secret-token',
  refreshToken: 'r',
  issuedAtMs: 1,
  expiresAtMs: 2,
}

describe('login files', () => {
  let home: string
  let errors: string
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'kapis-store-'))
    errors = ''
    mkdirSync(join(home, 'logins'))
  })
  afterEach(() => rmSync(home, { recursive: true }))

  const io = () => ({
    out: () => undefined,
    err: (text: string) => {
      errors += text
    },
    env: { KAPIS_HOME: home },
    signal: new AbortController().signal,
    version: '0',
  })
  const file = () => loginFile(io().env, key)

  const broken: Readonly<Record<string, readonly [content: string, why: string]>> = {
    'an empty file': ['', 'it is empty'],
    'a truncated file': ['{"accessToken": "secret-token", "url', 'it is not valid JSON'],
    'another format': ['accessToken: secret-token', 'it is not valid JSON'],
    'a list': ['[]', 'it is not a JSON object'],
    'a text': ['"secret-token"', 'it is not a JSON object'],
    null: ['null', 'it is not a JSON object'],
    'an object without token': [
      JSON.stringify({ ...stored, accessToken: 1 }),
      'the field accessToken is missing',
    ],
    'an object without server': [JSON.stringify({ ...stored, url: '' }), 'the field url is missing'],
  }
  for (const [what, [content, why]] of Object.entries(broken)) {
    it(`reports the name of a file with ${what}, and does not overwrite it`, async () => {
      writeFileSync(file(), content)
      const message = `invalid file ${file()}: ${why}; repair or delete it`
      expect(() => readLogin(io().env, key))
        .to.throw(message)
        .and.not.match(/secret-token/)
      expect(() => findTarget({ server: key.url, context: key.name }, io())).to.throw(message)
      const args = ['--server', key.url, '--context', key.name, '--no-kubeconfig', '--username', 'ali']
      const failure = await loginCommand.run(args, io()).catch(String)
      expect(failure).to.equal(`Error: ${message}`)
      expect(readFileSync(file(), 'utf8')).to.equal(content)
      expect(loginNames(io())).to.deep.equal([])
    })

    it(`lists the other logins, and reports the name of a file with ${what}`, () => {
      writeFileSync(file(), content)
      const other = { ...stored, name: 'other' }
      writeLogin(io().env, other)
      expect(listLogins(io())).to.deep.equal([other])
      expect(errors).to.equal(`Skipped a login: invalid file ${file()}: ${why}; repair or delete it.\n`)
      expect(findTarget({ context: 'other' }, io()).login).to.deep.equal(other)
    })
  }

  it('reports the name of a file that cannot be read', () => {
    mkdirSync(file())
    expect(() => readLogin(io().env, key)).to.throw(`failed to read ${file()}: EISDIR`)
    rmSync(file(), { recursive: true })
    writeFileSync(join(home, 'current.json'), '{')
    expect(() => readCurrent(io().env)).to.throw(`invalid file ${join(home, 'current.json')}`)
    writeLogin(io().env, stored)
    expect(findTarget({ server: key.url, context: key.name }, io()).login).to.deep.equal(stored)
    writeCurrent(io().env, key)
    expect(readCurrent(io().env)).to.deep.equal(key)
  })

  it('reports the name of a file that cannot be written', async () => {
    mkdirSync(file())
    expect(() => writeLogin(io().env, stored)).to.throw(`failed to write ${file()}: EISDIR`)
    expect(readdirSync(dirname(file()))).to.have.lengthOf(1)
    const lock = join(home, 'x'.repeat(255))
    const failure = await withFileLock(lock, () => undefined).catch(String)
    expect(failure).to.include(`failed to create the lock ${lock}.lock: ENAMETOOLONG`)
  })

  it('refreshes a token whose times Date cannot represent', () => {
    for (const time of [1e300, -1e300, '2026-01-01', null]) {
      writeFileSync(file(), JSON.stringify({ ...stored, issuedAtMs: time, expiresAtMs: time }))
      expect(readLogin(io().env, key)).to.include({ issuedAtMs: 0, expiresAtMs: 0 })
    }
    const text = JSON.stringify({ access_token: 'a', expires_in: 1e300 })
    const { expiresAtMs } = toTokens({ id: 'c', secret: '' }, { status: 200, headers: {}, text }, 'log in')
    expect(new Date(expiresAtMs).toISOString()).to.match(/^20/)
  })

  it('keeps fields of a later release', () => {
    writeFileSync(file(), JSON.stringify({ ...stored, profile: { a: [1] } }))
    const login = readLogin(io().env, key)
    if (login === undefined) throw new Error('the login was not found')
    writeLogin(io().env, { ...login, accessToken: 'next' })
    expect(JSON.parse(readFileSync(file(), 'utf8'))).to.deep.equal({
      ...stored,
      accessToken: 'next',
      profile: { a: [1] },
    })
    expect(readdirSync(dirname(file()))).to.have.lengthOf(1)
  })

  it('refreshes a token that has expired, or if the clock was set back', async () => {
    const nowMs = Date.now()
    const times: readonly (readonly [issuedAtMs: number, expiresAtMs: number, isFresh: boolean])[] = [
      [nowMs - 1_000, nowMs + 600_000, true],
      [nowMs + 10_000, nowMs + 610_000, true],
      [nowMs - 560_000, nowMs + 40_000, false],
      [nowMs - 700_000, nowMs - 100_000, false],
      [nowMs + 3_600_000, nowMs + 4_200_000, false],
      // A login of an earlier release.
      [0, nowMs + 600_000, true],
    ]
    for (const [issuedAtMs, expiresAtMs, isFresh] of times) {
      const login = { ...stored, url: 'https://127.0.0.1:1', issuedAtMs, expiresAtMs }
      writeLogin(io().env, login)
      const target = { server: { url: login.url, ca: '' }, login, name: login.name }
      const result = await refreshLogin(target, io()).then(
        ({ accessToken }) => accessToken,
        error => String(error),
      )
      if (isFresh) expect(result).to.equal('secret-token')
      else expect(result).to.match(/failed to reach https:\/\/127\.0\.0\.1:1/)
    }
  })
})
