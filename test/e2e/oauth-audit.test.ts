import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createBrowser, hiddenFieldsOf } from '../../pkg/oauth/browser/fixtures.ts'
import { kubectlOutput, sendToKapis, uniqueName } from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { createUser, credentials, form, loginAs, refresh, removeUser, token } from './oauth.ts'
import { setting } from './run.ts'

const uninitialized = `iam.${groupDomain}/uninitialized`

type Line = Readonly<Record<string, unknown>>
type Row = {
  readonly what: string
  readonly act: () => Promise<number>
  readonly undo?: () => Promise<void>
  readonly code: number
  readonly line: Line
  /** The program that logs the event; kapis-oauth by default. */
  readonly program?: 'apiserver'
}

describe('the audit log of logins', function () {
  this.timeout(90_000)
  const username = uniqueName('audited')
  const password = 'Correct-Horse-1'
  const newBrowser = () =>
    createBrowser({ send: (method, path, options) => sendToKapis(path, { method, ...options }) })

  before(() => createUser({ username, password }))
  after(() => removeUser(username))

  /** Returns the audit lines about the user in the log of a program. */
  function linesOf(program: string): readonly Line[] {
    const log = readFileSync(join(setting('KAPIS_LOGS_DIR'), `${program}.log`), 'utf8')
    return log
      .split('\n')
      .filter(line => line.includes(username) && line.includes('"audit":'))
      .map(line => JSON.parse(line))
  }

  async function askUserinfo(secret: string): Promise<number> {
    const authorization = `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`
    return (await sendToKapis('/oauth/userinfo', { headers: { authorization } })).code
  }

  async function typeCode(userCode: string): Promise<number> {
    const browser = newBrowser()
    await browser.logIn(username, password)
    const { csrf = '' } = hiddenFieldsOf((await browser.get('/oauth/device')).body)
    return (await browser.post('/oauth/device', { csrf, user_code: userCode })).code
  }

  const annotate = (annotation: string) =>
    kubectlOutput('annotate', `users.iam.${groupDomain}`, username, annotation)

  const grant = { audit: 'token', grant: 'password' }
  const wrong = { outcome: 'failure', reason: 'wrong_password' }
  const rows: readonly Row[] = [
    {
      what: 'a right password',
      act: async () => (await token({ grant_type: 'password', username, password })).code,
      code: 200,
      line: { ...grant, outcome: 'success' },
    },
    {
      what: 'a wrong password',
      act: async () => (await token({ grant_type: 'password', username, password: 'Wrong-Horse-1' })).code,
      code: 400,
      line: { ...grant, ...wrong },
    },
    {
      what: 'a password at userinfo',
      act: () => askUserinfo(password),
      code: 200,
      line: { audit: 'userinfo', outcome: 'success' },
    },
    {
      what: 'a wrong password at userinfo',
      act: () => askUserinfo('Wrong-Horse-1'),
      code: 401,
      line: { audit: 'userinfo', ...wrong },
    },
    {
      what: 'a refresh',
      act: async () => (await refresh((await loginAs({ username, password })).refresh_token)).code,
      code: 200,
      line: { audit: 'token', grant: 'refresh_token', outcome: 'success' },
    },
    {
      what: 'a wrong currentPassword',
      async act() {
        const { access_token } = await loginAs({ username, password })
        const path = `/kapis/iam.${groupDomain}/v1alpha2/users/${username}/password`
        const body = JSON.stringify({ currentPassword: 'Wrong-Horse-1', password: 'Another-Horse-1' })
        const headers = { 'content-type': 'application/json' }
        return (await sendAs(access_token, path, { method: 'PUT', headers, body })).code
      },
      code: 400,
      line: { audit: 'user', action: 'set password', by: username, ...wrong },
      program: 'apiserver',
    },
    {
      what: 'a revocation',
      async act() {
        const { refresh_token } = await loginAs({ username, password })
        return (await form('/oauth/revoke', { ...credentials, token: refresh_token })).code
      },
      code: 200,
      line: { audit: 'revoke', outcome: 'success' },
    },
    {
      what: 'a login with a browser',
      act: async () => (await newBrowser().logIn(username, password)).code,
      code: 303,
      line: { audit: 'login', outcome: 'success' },
    },
    {
      what: 'a wrong device code',
      act: () => typeCode('BCDF-GHJK'),
      code: 400,
      line: { audit: 'device', outcome: 'failure', reason: 'unknown_user_code' },
    },
    {
      what: 'the right password of a user who must change it',
      async act() {
        await annotate(`${uninitialized}=true`)
        await eventually(async () => {
          expect((await newBrowser().logIn(username, password)).code).to.equal(200)
        }, 20_000)
        return 200
      },
      async undo() {
        await annotate(`${uninitialized}-`)
        await eventually(async () => {
          expect((await newBrowser().logIn(username, password)).code).to.equal(303)
        }, 20_000)
      },
      code: 200,
      line: { audit: 'login', outcome: 'pending', reason: 'password_to_change' },
    },
  ]
  for (const { what, act, code, line, program = 'oauth', undo } of rows) {
    it(`records ${what} once, with its reason`, async () => {
      const isIt = (found: Line) => Object.entries(line).every(([name, value]) => found[name] === value)
      const before = linesOf(program).filter(isIt).length
      expect(await act()).to.equal(code)
      await eventually(async () => {
        const found = linesOf(program).filter(isIt)
        expect(found).to.have.length(before + 1)
        expect(found.at(-1)).to.include({ ...line, user: username })
        expect(found.at(-1)?.sourceIp).to.match(/127\.0\.0\.1|::1/)
        if (line.outcome === 'success') expect(found.at(-1)).to.not.have.property('reason')
      }, 20_000)
      await undo?.()
    })
  }

  it('contains no password and no code', async () => {
    const known = linesOf('oauth').length
    await loginAs({ username, password })
    await token({ grant_type: 'password', username, password: 'Wrong-Horse-1' })
    await typeCode('BCDF-GHJK')
    // The three lines of these logins, and one of the browser.
    await eventually(async () => expect(linesOf('oauth')).to.have.length.of.at.least(known + 4), 20_000)
    for (const program of ['oauth', 'apiserver']) {
      const text = JSON.stringify(linesOf(program))
      expect(text).to.not.match(/(Correct|Wrong|Another)-Horse-1|BCDF/)
    }
  })
})
