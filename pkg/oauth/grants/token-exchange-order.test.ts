import { expect } from 'chai'
import type { ExchangePolicy } from '../../config/sections/token-exchange.ts'
import { issuer } from '../../jwt/fixtures.ts'
import { ofAccount, ofCi, useExchange } from './exchange-fixtures.ts'

describe('the policy of a token exchange', () => {
  const setup = useExchange()
  const { exchange, ciToken } = setup

  const other: ExchangePolicy = { ...ofCi, name: 'other', user: 'alice' }
  const orders: readonly (readonly [string, readonly ExchangePolicy[], string | undefined])[] = [
    ['the first of two matching policies', [other, ofCi], 'other'],
    ['the second if the claims differ', [{ ...other, claims: { repository: 'x' } }, ofCi], 'deploy'],
    ['the second if the client differs', [{ ...other, clients: ['x'] }, ofCi], 'deploy'],
    ['the second if the audience differs', [{ ...other, subjectAudience: 'https://x' }, ofCi], 'deploy'],
    [
      'the first policy, with any requested audience',
      [{ ...other, audiences: ['https://wiki.example.org'] }, ofCi],
      undefined,
    ],
  ]
  for (const [what, policies, expected] of orders) {
    it(`is ${what}`, async () => {
      setup.app.workloads.policies.splice(0, setup.app.workloads.policies.length, ...policies)
      const { code } = await exchange(await ciToken())
      expect(code).to.equal(expected === undefined ? 400 : 200)
      const line = setup.app.lines.findLast(({ audit }) => audit === 'token')
      expect(line?.policy).to.equal(expected)
    })
  }

  it('is the first matching one for a token with several audiences', async () => {
    const token = await setup.app.workloads.sign({ iss: 'https://kubernetes.default.svc' })
    for (const name of [issuer, 'https://second'])
      setup.app.workloads.serviceAccounts.set(`${token} ${name}`, 'system:serviceaccount:ci:runner')
    setup.app.workloads.policies.splice(
      ...([0, setup.app.workloads.policies.length] as const),
      { ...ofAccount, name: 'nonexistent', subjects: ['system:serviceaccount:ci:other'] },
      { ...ofAccount, name: 'second', subjectAudience: 'https://second' },
      { ...ofAccount, name: 'third' },
    )
    expect((await exchange(token)).code).to.equal(200)
    expect(setup.app.lines.findLast(({ audit }) => audit === 'token')?.policy).to.equal('second')
  })

  it('for the issuer of the cluster is checked before a policy for service accounts', async () => {
    const cluster = 'https://kubernetes.default.svc'
    const token = await setup.app.workloads.sign({ iss: cluster, sub: 'x', aud: issuer })
    setup.app.workloads.serviceAccounts.set(`${token} ${issuer}`, 'system:serviceaccount:ci:runner')
    setup.app.workloads.policies.splice(0, 3, { ...ofCi, name: 'oidc', issuer: cluster }, ofAccount)
    expect((await exchange(token)).code).to.equal(200)
    expect(setup.app.lines.findLast(({ audit }) => audit === 'token')?.policy).to.equal('deploy')
    // A policy that cannot be checked might be the one that matches, so later policies must not
    // decide.
    setup.app.workloads.state.isDown = true
    expect((await exchange(token)).code).to.equal(503)
  })
})
