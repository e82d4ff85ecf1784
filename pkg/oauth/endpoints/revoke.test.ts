import { expect } from 'chai'
import { kapis, startApp, type TestApp, type TestTokens } from '../fixtures.ts'
import { memoryClient, memoryUser } from '../memory-fixtures.ts'
import { issueAccessToken } from '../tokens/issue-access-token.ts'

describe('POST /oauth/revoke', () => {
  let app: TestApp
  let tokens: TestTokens
  before(async () => {
    app = await startApp()
    app.clients.set('other', { client: memoryClient('other'), secret: 's' })
  })
  after(() => app.close())
  beforeEach(async () => {
    tokens = await app.login('alice')
  })

  const revoke = (fields: Record<string, string>, headers = {}) =>
    app.form('/oauth/revoke', { ...kapis, ...fields }, headers)
  async function sessionOf({ refresh_token }: TestTokens) {
    return app.sessions.get((await app.tools.verifier.verifyRefresh(refresh_token)).sid)
  }

  for (const kind of ['access_token', 'refresh_token'] as const) {
    for (const hint of [undefined, 'access_token', 'refresh_token', 'nonsense']) {
      it(`ends the session of its ${kind}, with the hint ${hint}`, async () => {
        const response = await revoke({
          token: tokens[kind],
          ...(hint === undefined ? {} : { token_type_hint: hint }),
        })
        expect([response.code, response.body]).to.deep.equal([200, ''])
        expect(response.headers['cache-control']).to.equal('no-store')
        expect((await sessionOf(tokens))?.ended).to.equal('revoked by its client')
        const refreshed = await app.token({
          grant_type: 'refresh_token',
          refresh_token: tokens.refresh_token,
        })
        expect(refreshed.code).to.equal(400)
      })
    }
  }

  it('revokes an exchanged token of its client for another audience, and not the session', async () => {
    const login = await sessionOf(tokens)
    const { issued, session } = await issueAccessToken(app.tools, {
      user: memoryUser('alice'),
      ...{ type: 'TokenExchange', clientId: 'kapis', scope: '', lifeSeconds: 60, isLive: true },
      ...{ audience: 'other', ...(login && { login, parent: login.sid }) },
    })
    const refused = await revoke({ token: issued.token, client_id: 'other', client_secret: 's' })
    expect([refused.code, app.sessions.get(session.sid)?.ended]).to.deep.equal([400, ''])
    const { code } = await revoke({ token: issued.token })
    expect([code, app.sessions.get(session.sid)?.ended, (await sessionOf(tokens))?.ended]).to.deep.equal([
      ...[200, 'revoked by its client', ''],
    ])
  })

  it('accepts HTTP Basic for the client', async () => {
    const authorization = `Basic ${Buffer.from('kapis:kapis').toString('base64')}`
    const response = await app.form('/oauth/revoke', { token: tokens.access_token }, { authorization })
    expect(response.code).to.equal(200)
    expect((await sessionOf(tokens))?.ended).to.equal('revoked by its client')
  })

  it('responds to a repeated request in the same way', async () => {
    await revoke({ token: tokens.refresh_token })
    expect(await revoke({ token: tokens.refresh_token })).to.include({ code: 200, body: '' })
  })

  const unknown: readonly [string, () => Promise<string> | string][] = [
    ['garbage', () => 'garbage'],
    ['60 KB', () => 'x'.repeat(60_000)],
    ['a truncated token', () => tokens.access_token.slice(0, -4)],
    [
      'an expired token',
      async () => {
        const subject = {
          username: 'alice',
          uid: 'uid-alice',
          groups: [],
          sid: 's',
          clientId: 'kapis',
          scope: '',
        }
        return (await app.tools.issuer.access(subject, -60)).token
      },
    ],
  ]
  for (const [what, make] of unknown) {
    it(`responds to ${what} as to a valid token`, async () => {
      const response = await revoke({ token: await make() })
      expect([response.code, response.body]).to.deep.equal([200, ''])
      expect((await sessionOf(tokens))?.ended).to.equal('')
    })
  }

  const refused: readonly [string, () => Record<string, string>, number, object][] = [
    [
      'another client',
      () => ({ token: tokens.refresh_token, client_id: 'other', client_secret: 's' }),
      400,
      { error: 'invalid_grant', error_description: 'the token was issued to another client' },
    ],
    [
      'a stranger',
      () => ({ token: tokens.refresh_token, client_secret: 'wrong' }),
      401,
      { error: 'invalid_client', error_description: 'invalid client credential' },
    ],
    [
      'a request without a token',
      () => ({}),
      400,
      { error: 'invalid_request', error_description: 'the parameter token is required' },
    ],
  ]
  for (const [who, fields, code, body] of refused) {
    it(`rejects ${who}`, async () => {
      const response = await revoke(fields())
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([code, body])
      expect((await sessionOf(tokens))?.ended).to.equal('')
    })
  }

  it('is audited, without the token', async () => {
    await revoke({ token: tokens.refresh_token })
    const { sid } = await app.tools.verifier.verifyRefresh(tokens.refresh_token)
    expect(app.lines.at(-1)).to.include({
      audit: 'revoke',
      outcome: 'success',
      client: 'kapis',
      user: 'alice',
      sid,
    })
    expect(JSON.stringify(app.lines)).to.not.contain(tokens.refresh_token)
  })
})
