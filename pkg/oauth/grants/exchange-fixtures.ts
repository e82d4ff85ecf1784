import type { ExchangePolicy } from '../../config/sections/token-exchange.ts'
import { audience, issuer } from '../../jwt/fixtures.ts'
import { startApp, type TestApp } from '../fixtures.ts'
import { memoryClient, memoryUser } from '../memory-fixtures.ts'

export const grant = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const type = (name: string) => `urn:ietf:params:oauth:token-type:${name}`
const ci = 'https://ci.example.org'
const usual: ExchangePolicy = {
  ...{ name: 'deploy', source: 'OIDC', subjects: [], claims: {}, clients: ['ci'], scope: '', audiences: [] },
  maxSeconds: 300,
}
export const ofCi: ExchangePolicy = {
  ...usual,
  issuer: ci,
  user: 'robot',
  claims: { repository: 'acme/shop' },
}
export const ofAccount: ExchangePolicy = {
  ...usual,
  source: 'ServiceAccount',
  subjects: ['system:serviceaccount:ci:runner'],
  user: 'robot',
}
const ofUser: ExchangePolicy = { ...usual, source: 'User', audiences: [audience, 'https://wiki.example.org'] }

/** Starts the app for a suite, with the client `ci` and a policy per source of tokens. */
export function useExchange() {
  let app: TestApp
  before(async () => {
    app = await startApp()
  })
  after(() => app.close())
  beforeEach(() => {
    app.workloads.policies.splice(0, app.workloads.policies.length, ofCi, ofAccount, ofUser)
    app.workloads.state.isDown = false
    app.workloads.serviceAccounts.clear()
    app.users.set('robot', memoryUser('robot', { inlineHash: undefined, credential: '' }))
    const client = memoryClient('ci', { public: true, trusted: false, grantTypes: [grant] })
    app.clients.set('ci', { client, secret: undefined })
  })
  return {
    /** Only available while a test runs. */
    get app() {
      return app
    },
    async exchange(token: string, more: Readonly<Record<string, string>> = {}) {
      const form = {
        grant_type: grant,
        client_id: 'ci',
        subject_token: token,
        subject_token_type: type('jwt'),
      }
      const { code, body } = await app.form('/oauth/token', { ...form, ...more })
      return { code, body: JSON.parse(body) }
    },
    ciToken: (claims: Readonly<Record<string, unknown>> = {}, header: { readonly typ?: string } = {}) =>
      app.workloads.sign(
        { iss: ci, sub: 'repo:acme/shop', aud: issuer, repository: 'acme/shop', ...claims },
        header,
      ),
  }
}
