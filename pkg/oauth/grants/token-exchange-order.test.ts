import { expect } from 'chai'
import type { ExchangePolicy } from '../../config/sections/token-exchange.ts'
import { issuer } from '../../jwt/fixtures.ts'
import type { TestApp } from '../fixtures.ts'
import { type ExchangeSetup, ofAccount, ofCi, startExchange } from './exchange-fixtures.ts'

describe('the policy of a token exchange', () => {
  let setup: ExchangeSetup
  let app: TestApp
  before(async () => {
    setup = await startExchange()
    app = setup.app
  })
  after(() => app.close())
  beforeEach(() => setup.reset())

  const exchange = (token: string, more: Record<string, string> = {}) => setup.exchange(token, more)
  const ciToken = (claims: Record<string, unknown> = {}) => setup.ciToken(claims)

  const other: ExchangePolicy = { ...ofCi, name: 'other', user: 'alice' }
  const orders: readonly (readonly [string, readonly ExchangePolicy[], string | undefined])[] = [
    ['the first of two', [other, ofCi], 'other'],
    ['the second if the claims differ', [{ ...other, claims: { repository: 'x' } }, ofCi], 'deploy'],
    ['the second if the client differs', [{ ...other, clients: ['x'] }, ofCi], 'deploy'],
    ['the second if the audience differs', [{ ...other, subjectAudience: 'https://x' }, ofCi], 'deploy'],
    [
      'the first, whatever audience is asked for',
      [{ ...other, audiences: ['https://wiki.example.org'] }, ofCi],
      undefined,
    ],
  ]
  for (const [what, policies, expected] of orders) {
    it(`is decided by ${what}`, async () => {
      app.workloads.policies.splice(0, app.workloads.policies.length, ...policies)
      const { code } = await exchange(await ciToken())
      expect(code).to.equal(expected === undefined ? 400 : 200)
      const line = app.lines.findLast(({ audit }) => audit === 'token')
      expect(line?.policy).to.equal(expected)
    })
  }

  it('is decided in the order of the policies for a token of several audiences', async () => {
    const token = await app.workloads.sign({ iss: 'https://kubernetes.default.svc' })
    for (const name of [issuer, 'https://second'])
      app.workloads.serviceAccounts.set(`${token} ${name}`, 'system:serviceaccount:ci:runner')
    app.workloads.policies.splice(
      ...([0, app.workloads.policies.length] as const),
      { ...ofAccount, name: 'nobody', subjects: ['system:serviceaccount:ci:other'] },
      { ...ofAccount, name: 'second', subjectAudience: 'https://second' },
      { ...ofAccount, name: 'third' },
    )
    expect((await exchange(token)).code).to.equal(200)
    expect(app.lines.findLast(({ audit }) => audit === 'token')?.policy).to.equal('second')
  })

  it('asks the policies of the cluster after those of its issuer', async () => {
    const cluster = 'https://kubernetes.default.svc'
    const token = await app.workloads.sign({ iss: cluster, sub: 'x', aud: issuer })
    app.workloads.serviceAccounts.set(`${token} ${issuer}`, 'system:serviceaccount:ci:runner')
    app.workloads.policies.splice(0, 3, { ...ofCi, name: 'oidc', issuer: cluster }, ofAccount)
    expect((await exchange(token)).code).to.equal(200)
    expect(app.lines.findLast(({ audit }) => audit === 'token')?.policy).to.equal('deploy')
    // The first might be the one that decides.
    app.workloads.state.isDown = true
    expect((await exchange(token)).code).to.equal(503)
  })
})
