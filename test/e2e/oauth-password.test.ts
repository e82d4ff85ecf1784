import { expect } from 'chai'
import { accessToken, type HttpResponse, kubectl, uniqueName } from './cluster.ts'
import { apply, eventually, groupDomain, sendAs } from './http.ts'
import {
  claimsOf,
  createUser,
  credentials,
  form,
  iamVersion,
  loginAs,
  parseResponse,
  patchUser,
  removeUser,
  uidOfUser,
} from './oauth.ts'
import { issuerUrl } from './oauth-clients.ts'

/** The password grant with each kind of name and from each address, and its login records. */
describe('a login with a password', function () {
  this.timeout(60_000)
  const user = { username: uniqueName('typed'), password: 'Correct horse 1' }
  const email = `${user.username}@e2e.test`
  const without = uniqueName('without')

  before(async () => {
    await createUser(user, { groups: ['e2e-password'] })
    await loginAs(user)
    await apply({
      apiVersion: iamVersion,
      kind: 'User',
      metadata: { name: without },
      spec: { email: `${without}@e2e.test` },
    })
  })
  after(async () => {
    await removeUser(user.username)
    await removeUser(without)
  })

  const login = (username: string, password: string, headers?: Readonly<Record<string, string>>) =>
    form('/oauth/token', { grant_type: 'password', ...credentials, username, password }, headers)

  it('accepts the e-mail address, in any letter case, as the name', async () => {
    for (const typed of [email, email.toUpperCase()]) {
      const response = await login(typed, user.password)
      const { access_token, refresh_token, ...rest } = JSON.parse(response.body)
      expect([response.code, rest]).to.deep.equal([200, { token_type: 'Bearer', expires_in: 7200 }])
      const { iat, exp, jti, sid, auth_time, ...claims } = claimsOf(access_token)
      expect(Number(auth_time)).to.be.within(Number(iat) - 5, Number(iat))
      expect(claims).to.deep.equal({
        ...{ acr: 'sfa', amr: ['pwd'] },
        iss: await issuerUrl(),
        sub: user.username,
        username: user.username,
        aud: [groupDomain],
        client_id: credentials.client_id,
        scope: '',
        uid: await uidOfUser(user.username),
        groups: ['e2e-password'],
        token_type: 'access_token',
      })
      expect(claimsOf(refresh_token)).to.deep.include({ sid, sub: user.username })
    }
  })

  it('returns the same bytes for a wrong password, an unknown user and a user without a password', async () => {
    const said = ({ code, headers, body }: HttpResponse) => {
      const { date, 'x-request-id': id, 'audit-id': auditId, ...rest } = headers
      return { code, body, headers: rest }
    }
    const wrong = await login(user.username, 'Wrong horse 1')
    expect(parseResponse(wrong)).to.deep.equal([
      400,
      { error: 'invalid_grant', error_description: 'incorrect password' },
    ])
    const nonexistent = uniqueName('nonexistent')
    for (const name of [without, `${without}@e2e.test`, nonexistent, `${nonexistent}@e2e.test`, email])
      expect(said(await login(name, 'Wrong horse 1')), name).to.deep.equal(said(wrong))
    for (const none of [' ', 'undefined', 'null'])
      expect(said(await login(without, none)), none).to.deep.equal(said(wrong))
  })

  it('takes the same time for an unknown user, a user without a password, a disabled user and a wrong password', async () => {
    const [guessed, disabled] = [uniqueName('guessed'), uniqueName('disabled')]
    for (const username of [guessed, disabled]) await createUser({ ...user, username })
    await patchUser(disabled, { status: { state: 'Disabled' } }, '--subresource=status')
    try {
      await eventually(
        async () =>
          expect(parseResponse(await login(disabled, user.password))).to.deep.equal([
            400,
            { error: 'invalid_grant', error_description: 'account is not active' },
          ]),
        20_000,
      )
      const kinds = {
        wrong: () => guessed,
        'wrong, by its address': () => `${guessed}@e2e.test`,
        unknown: () => uniqueName('nonexistent'),
        'without a password': () => without,
        disabled: () => disabled,
      }
      const times = new Map(Object.keys(kinds).map(kind => [kind, [] as number[]]))
      // Kinds alternate, so that other load on the machine affects all of them. There are fewer
      // attempts than the lockout allows.
      for (let i = 0; i < 4; i++) {
        for (const [kind, name] of Object.entries(kinds)) {
          const startedAt = performance.now()
          const response = await login(name(), `Wrong horse ${i}`)
          times.get(kind)?.push(performance.now() - startedAt)
          expect(parseResponse(response), kind).to.deep.equal([
            400,
            { error: 'invalid_grant', error_description: 'incorrect password' },
          ])
        }
      }
      const medians = new Map([...times].map(([kind, each]) => [kind, medianOf(each)]))
      if (process.env.E2E_FIGURES) console.log(`      ${JSON.stringify(Object.fromEntries(medians))}`)
      // Hashing takes tens of milliseconds and everything else only a few, so a response without
      // hashing would be noticeable.
      const wrong = medians.get('wrong') ?? 0
      for (const [kind, each] of medians) expect(each / wrong, kind).to.be.within(0.2, 5)
    } finally {
      for (const name of [guessed, disabled]) await removeUser(name)
    }
  })

  it('is recorded with the address of its connection, not with one that an untrusted client asserts', async () => {
    const name = uniqueName('claiming')
    await createUser({ ...user, username: name })
    try {
      const claimed = '6.6.6.6'
      const headers = {
        'x-forwarded-for': `${claimed}, ${claimed}`,
        'x-real-ip': claimed,
        'x-client-ip': claimed,
        forwarded: `for=${claimed}`,
        'user-agent': 'e2e',
      }
      // kapis-oauth may not have loaded the user yet.
      await eventually(
        async () => expect(await login(name, user.password, headers)).to.include({ code: 200 }),
        20_000,
      )
      expect(await login(name, 'Wrong horse 1', headers)).to.include({ code: 400 })
      const path = `/kapis/iam.${groupDomain}/v1alpha2/users/${name}/loginrecords`
      const admin = await accessToken()
      const kept = { type: 'Password', provider: '', sourceIP: '127.0.0.1', userAgent: 'e2e' }
      await eventually(async () => {
        const { items, totalItems } = JSON.parse((await sendAs(admin, path)).body)
        const specs = items.map(({ spec }: { spec: object }) => spec)
        expect(totalItems).to.equal(2)
        expect(specs).to.have.deep.members([
          { ...kept, success: true, reason: 'authenticated successfully' },
          { ...kept, success: false, reason: 'incorrect password' },
        ])
        expect(JSON.stringify(items)).to.not.include(claimed)
      }, 20_000)
    } finally {
      await removeUser(name)
      await kubectl('delete', 'loginrecords', '-l', `iam.${groupDomain}/user-ref=${name}`)
    }
  })
})

/** Returns the median, which a single delayed attempt does not affect. */
function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
