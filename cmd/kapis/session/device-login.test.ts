import { expect } from 'chai'
import { deviceLogin } from './device-login.ts'
import type { HttpResponse } from './http.ts'
import type { Issuer } from './issuer.ts'

const client = { id: 'kapis-cli', secret: '' }
const respond = (status: number, body: object): HttpResponse => ({
  status,
  headers: {},
  text: JSON.stringify(body),
})

describe('deviceLogin', () => {
  /** Logs in at an issuer whose token endpoint returns these responses; an Error is a lost connection. */
  async function logIn(responses: readonly (HttpResponse | Error)[], signal = new AbortController().signal) {
    const left = [...responses]
    let printed = ''
    const issuer: Issuer = {
      identifier: 'https://a.test/oauth',
      isNamedInResponses: true,
      endpoint: name => new URL(`https://a.test/oauth/${name}`),
      page: value => new URL(String(value)),
      get: async () => respond(404, {}),
      async post(endpoint) {
        if (endpoint === 'device_authorization')
          return respond(200, {
            device_code: 'secret',
            user_code: 'ABCD-EFGH',
            verification_uri: 'https://a.test/oauth/device',
            interval: 0.001,
            expires_in: 10,
          })
        const next = left.shift()
        if (next === undefined) throw new Error('polled after the end')
        if (next instanceof Error) throw next
        return next
      },
    }
    const io = {
      out: () => undefined,
      err(text: string) {
        printed += text
      },
      env: {},
      signal,
      version: '0',
    }
    const result = await deviceLogin(issuer, client, io).then(
      ({ accessToken }) => accessToken,
      error => String(error),
    )
    expect(printed).to.equal('Open https://a.test/oauth/device in a browser and enter the code ABCD-EFGH\n')
    return [result, left.length]
  }
  const pending = respond(400, { error: 'authorization_pending' })
  const done = respond(200, { access_token: 'token', expires_in: 60 })

  it('polls until the user has decided', async () => {
    expect(await logIn([pending, pending, done])).to.deep.equal(['token', 0])
    const denied = respond(400, { error: 'access_denied', error_description: 'the user denied access' })
    expect(await logIn([pending, denied, done])).to.deep.equal([
      'Error: failed to log in: the user denied access',
      1,
    ])
    const expired = respond(400, { error: 'expired_token' })
    expect(await logIn([pending, expired, done])).to.deep.equal(['Error: failed to log in: expired_token', 1])
  })

  it('continues after a lost connection and while the server restarts (RFC 8628 section 3.5)', async () => {
    const lost = new Error('failed to reach https://a.test: read ECONNRESET')
    const restarting = respond(503, { error: 'temporarily_unavailable' })
    const overloaded = respond(429, { error: 'temporarily_unavailable' })
    expect(await logIn([lost, pending, restarting, overloaded, lost, done])).to.deep.equal(['token', 0])
  })

  it('ends with its command', async () => {
    const controller = new AbortController()
    const login = logIn([pending], controller.signal)
    controller.abort()
    expect(await login).to.deep.equal(['AbortError: The operation was aborted', 1])
  })
})
