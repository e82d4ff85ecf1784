import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { sendToKapis, uniqueName } from './cluster.ts'
import { eventually } from './http.ts'
import { applyProvider, openIdDocument, removeProvider } from './identity-provider.ts'
import { credentials } from './oauth.ts'
import { setting } from './run.ts'

/** GET /oauth/login/{idp} without a redirect: the complete response for programs and browsers. */
describe('a redirect to an identity provider', function () {
  this.timeout(60_000)
  const provider = uniqueName('away')
  const client = { client_id: credentials.client_id }

  before(async () => {
    await applyProvider(openIdDocument(provider, { url: 'https://localhost:1' }))
    await eventually(async () => {
      expect((await sendToKapis(`/oauth/login/${provider}`)).code).to.equal(400)
    }, 20_000)
  })
  after(() => removeProvider(provider))

  const noClient = 'the parameter client_id or return_to is required'
  const rows: readonly [string, string, number, string, string, string][] = [
    ['a missing client', '', 400, 'invalid_request', noClient, 'unknown_client'],
    ['an unknown client', 'client_id=nonexistent', 400, 'invalid_request', noClient, 'unknown_client'],
    [
      'two clients',
      'client_id=kapis&client_id=kapis',
      400,
      'invalid_request',
      'the parameter client_id is given more than once',
      'invalid_request',
    ],
    [
      'two return URLs',
      'return_to=/oauth/device&return_to=//evil.test',
      400,
      'invalid_request',
      'the parameter return_to is given more than once',
      'invalid_request',
    ],
    [
      'an invalid percent-encoding',
      'return_to=%',
      400,
      'invalid_request',
      'the query contains an invalid percent-encoding',
      'invalid_request',
    ],
    [
      'a malformed scope',
      String(new URLSearchParams({ ...client, scope: 'a"b' })),
      400,
      'invalid_scope',
      'the parameter scope is malformed',
      'invalid_scope',
    ],
    [
      'a provider that is down',
      String(new URLSearchParams(client)),
      503,
      'temporarily_unavailable',
      'the identity provider returned an invalid response',
      'provider_failed',
    ],
    [
      'a provider that is down, and a return URL',
      'return_to=/oauth/device',
      503,
      'temporarily_unavailable',
      'the identity provider returned an invalid response',
      'provider_failed',
    ],
  ]
  for (const [what, query, code, error, error_description, reason] of rows) {
    it(`returns ${code} for ${what}`, async () => {
      const before = linesOf().length
      const path = `/oauth/login/${provider}?${query}`
      const response = await sendToKapis(path)
      expect([response.code, JSON.parse(response.body)]).to.deep.equal([code, { error, error_description }])
      expect(response.headers).to.include({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        pragma: 'no-cache',
      })
      const page = await sendToKapis(path, { headers: { accept: 'text/html' } })
      expect([page.code, page.headers['content-type']]).to.deep.equal([code, 'text/html; charset=utf-8'])
      expect(page.headers['cache-control']).to.equal('no-store')
      expect(page.body)
        .to.include(`${error_description.slice(1)}.`)
        .and.include('Back to the login')
      for (const { headers } of [response, page]) {
        expect(headers['retry-after']).to.equal(code === 503 ? '5' : undefined)
        expect(headers).to.not.have.any.keys('location', 'set-cookie', 'www-authenticate')
      }
      await eventually(async () => {
        const lines = linesOf().slice(before)
        expect(lines).to.have.length(2)
        for (const line of lines) expect(line).to.include({ provider, outcome: 'failure', reason })
      }, 20_000)
    })
  }

  it('returns 404 for an unknown provider, whose name is not audited', async () => {
    const nonexistent = uniqueName('nonexistent')
    for (const accept of ['application/json', 'text/html']) {
      const path = `/oauth/login/${nonexistent}?${new URLSearchParams(client)}`
      const response = await sendToKapis(path, { headers: { accept } })
      expect(response.code).to.equal(404)
      const text = accept === 'text/html' ? 'Unknown identity provider.' : 'unknown identity provider'
      expect(response.body).to.include(text)
      expect(response.headers['cache-control']).to.equal('no-store')
    }
    expect(auditLog()).to.not.include(nonexistent)
  })

  function auditLog(): string {
    const log = readFileSync(join(setting('KAPIS_LOGS_DIR'), 'oauth.log'), 'utf8')
    return log
      .split('\n')
      .filter(line => line.includes('"audit":"login"'))
      .join('\n')
  }
  function linesOf(): readonly Record<string, unknown>[] {
    const lines = auditLog().split('\n')
    return lines.filter(line => line.includes(provider)).map(line => JSON.parse(line))
  }
})
