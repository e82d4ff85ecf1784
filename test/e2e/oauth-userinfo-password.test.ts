import { expect } from 'chai'
import { accessToken, type HttpResponse, kubectl, kubectlJson, sendToKapis, uniqueName } from './cluster.ts'
import { eventually, expectStatus, groupDomain, sendAs, statusBody } from './http.ts'
import { createUser, loginAs, parseResponse, patchUser, removeUser, token } from './oauth.ts'
import { sendRaw } from './raw-https.ts'

/** `GET /oauth/userinfo` with HTTP Basic, for programs that only support user name and password. */
describe('userinfo with HTTP Basic', function () {
  this.timeout(90_000)
  const user = { username: uniqueName('plain'), password: 'Pässword: 1' }
  const disabled = { username: uniqueName('off'), password: 'Correct horse 1' }
  const email = `${user.username}@e2e.test`
  const challenge = 'Basic realm="kapis", charset="UTF-8"'

  before(async () => {
    await createUser(user, { displayName: 'Plain' })
    await createUser(disabled)
    for (const each of [user, disabled]) await loginAs(each)
    await patchUser(disabled.username, { status: { state: 'Disabled' } }, '--subresource=status')
    await eventually(async () => {
      const response = await token({ grant_type: 'password', ...disabled })
      expect(JSON.parse(response.body)).to.include({ error_description: 'account is not active' })
    }, 20_000)
  })
  after(async () => {
    for (const { username } of [user, disabled]) {
      await removeUser(username)
      await kubectl('delete', 'loginrecords', '-l', `iam.${groupDomain}/user-ref=${username}`)
    }
  })

  const encode = (text: string | Uint8Array) => `Basic ${Buffer.from(text).toString('base64')}`
  const send = (authorization: string, method = 'GET') =>
    sendToKapis('/oauth/userinfo', { method, headers: { authorization } })
  const askWith = (login: string, password: string) => send(encode(`${login}:${password}`))

  for (const login of [user.username, email, email.toUpperCase()]) {
    it(`returns the user of ${login === user.username ? 'a user name' : login}, and starts no session`, async () => {
      const sessions = async () => {
        const list = await kubectlJson('get', 'loginsessions')
        const { items } = list as { items: { spec: { user: string } }[] }
        return items.filter(({ spec }) => spec.user === user.username).length
      }
      const before = await sessions()
      const response = await askWith(login, user.password)
      expect(parseResponse(response)).to.deep.equal([
        200,
        { sub: user.username, name: 'Plain', email, preferred_username: user.username },
      ])
      const { headers } = response
      expect(headers).to.include({ 'content-type': 'application/json; charset=utf-8' })
      expect(headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' })
      expect(headers).to.not.have.any.keys('set-cookie', 'www-authenticate')
      expect(await sessions()).to.equal(before)
    })
  }

  const nonexistent = uniqueName('nonexistent')
  const off = disabled.username
  const rows: readonly [string, () => Promise<HttpResponse>, string][] = [
    ['a wrong password', () => askWith(user.username, 'Wrong horse 1'), 'incorrect password'],
    ['a wrong password of an e-mail address', () => askWith(email, 'Wrong horse 1'), 'incorrect password'],
    ['an unknown user', () => askWith(nonexistent, user.password), 'incorrect password'],
    ['an empty name', () => askWith('', user.password), 'incorrect password'],
    ['an empty password', () => askWith(user.username, ''), 'incorrect password'],
    ['a wrong password of a disabled user', () => askWith(off, 'Wrong horse 1'), 'incorrect password'],
    ['a disabled user', () => askWith(off, disabled.password), 'account is not active'],
    ['a credential without a colon', () => send(encode('alice')), 'invalid Basic credential'],
    ['a credential that is not base64', () => send('Basic !'), 'invalid Basic credential'],
    ['nothing', () => send('Basic'), 'invalid Basic credential'],
    ['no UTF-8', () => send(encode(Buffer.from('a:\xff', 'latin1'))), 'invalid Basic credential'],
    [
      'two credentials in one header',
      () => send(`${encode('a:b')}, ${encode('a:b')}`),
      'invalid Basic credential',
    ],
  ]
  for (const [what, act, error_description] of rows) {
    it(`responds to ${what} with 401`, async () => {
      const response = await act()
      expect(parseResponse(response)).to.deep.equal([401, { error: 'login_required', error_description }])
      expect(response.headers).to.include({
        'www-authenticate': challenge,
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        pragma: 'no-cache',
      })
    })
  }

  it('accepts one Authorization header, and none with POST', async () => {
    const good = encode(`${user.username}:${user.password}`)
    const { access_token } = await loginAs(user)
    const bearer = `Bearer ${access_token}`
    for (const [first, second] of [
      [good, good],
      [good, bearer],
      [bearer, good],
    ]) {
      const head = ['GET /oauth/userinfo HTTP/1.1', 'Host: kapis', 'Connection: close']
      const lines = [...head, `Authorization: ${first}`, `Authorization: ${second}`]
      const { codes, text } = await sendRaw(`${lines.join('\r\n')}\r\n\r\n`)
      expect(codes).to.deep.equal([401])
      expect(text).to.match(/^www-authenticate: Bearer realm="kapis"\r$/im)
      expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).to.deep.equal(
        statusBody(401, 'Unauthorized', 'Unauthorized'),
      )
    }
    for (const response of [
      await send(good, 'POST'),
      await sendToKapis('/oauth/userinfo', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: good },
        body: `access_token=${access_token}`,
      }),
    ]) {
      expectStatus(response, statusBody(401, 'Unauthorized', 'Unauthorized'))
      expect(response.headers['www-authenticate']).to.equal('Bearer realm="kapis"')
    }
  })

  it('counts failures together with the password grant, and locks with it', async () => {
    const guessed = { username: uniqueName('guessed'), password: 'Correct horse 1' }
    await createUser(guessed)
    try {
      await loginAs(guessed)
      const wrong = { ...guessed, password: 'Wrong horse 1' }
      for (const { username } of [guessed, { username: uniqueName('nonexistent') }]) {
        const codes: number[] = []
        for (let i = 0; i < 5; i++) {
          codes.push((await token({ grant_type: 'password', ...wrong, username })).code)
          codes.push((await askWith(username, wrong.password)).code)
        }
        expect(codes).to.deep.equal(Array.from({ length: 5 }, () => [400, 401]).flat())
        const right = guessed.password
        for (const response of [
          await askWith(username, right),
          await token({ grant_type: 'password', username, password: right }),
        ]) {
          expect(parseResponse(response)).to.deep.equal([
            429,
            { error: 'invalid_grant', error_description: 'auth rate limit exceeded' },
          ])
          expect(Number(response.headers['retry-after'])).to.be.within(500, 600)
          expect(response.headers['www-authenticate']).to.equal(undefined)
        }
      }
      const path = `/kapis/iam.${groupDomain}/v1alpha2/users/${guessed.username}/loginrecords`
      const admin = await accessToken()
      await eventually(async () => {
        const { items } = JSON.parse((await sendAs(admin, path)).body)
        const failed = items.filter(({ spec }: { spec: { success: boolean } }) => !spec.success)
        expect(failed).to.have.length(10)
        for (const { spec } of failed)
          expect(spec).to.include({ type: 'Password', provider: '', reason: 'incorrect password' })
      }, 20_000)
    } finally {
      await removeUser(guessed.username)
      await kubectl('delete', 'loginrecords', '-l', `iam.${groupDomain}/user-ref=${guessed.username}`)
    }
  })
})
