import { expect } from 'chai'
import { membersOf } from '../../../../kubeclient/object.ts'
import { serveRoleRoutes, usersRule, viewRule } from './served-fixtures.ts'

describe('role templates', () => {
  const { calls, denied, send, write } = serveRoleRoutes()
  const annotation = 'iam.kapis.io/aggregation-roles'
  const from = (names: string, more: object = {}) => ({
    metadata: { name: 'made', annotations: { [annotation]: names } },
    ...more,
  })
  const sentRules = () => calls.map(call => Object(Object(call).body).rules)

  it('give a role their rules, each once', async () => {
    const body = from('["template-view","template-users","template-view"]', { rules: [usersRule] })
    expect((await write('POST', '/namespaces/b1/roles', body)).code).to.equal(200)
    expect(sentRules()).to.deep.equal([[viewRule, usersRule]])
  })

  it('take their rules along when they are taken from a role, with a warning', async () => {
    const response = await send(
      'PUT',
      '/namespaces/b1/roles/made',
      from('["template-view"]', { rules: [viewRule, usersRule] }),
    )
    expect([response.status, response.headers.get('warning')]).to.deep.equal([
      200,
      '299 - "the rules are those of the role templates alone"',
    ])
    expect(sentRules()).to.deep.equal([[viewRule]])
  })

  it('there are none of leave the rules of a role', async () => {
    const body = from('["none"]', { rules: [usersRule] })
    expect((await write('PUT', '/namespaces/b1/roles/made', body)).code).to.equal(200)
    expect(sentRules()).to.deep.equal([[usersRule]])
  })

  it('that there are not give nothing, as no other ClusterRole does, with a warning', async () => {
    const response = await send(
      'POST',
      '/namespaces/b1/roles',
      from('["cluster-admin","none","template-view"]'),
    )
    expect(response.headers.get('warning')).to.equal(
      '299 - "no role templates, which give no rights: cluster-admin, none"',
    )
    expect(sentRules()).to.deep.equal([[viewRule]])
  })

  it('take the right to list ClusterRoles', async () => {
    denied.add('clusterroles')
    expect((await write('POST', '/namespaces/b1/roles', from('["template-view"]'))).code).to.equal(403)
    expect(calls).to.deep.equal([])
  })

  for (const names of ['x', '{}', '[1]'])
    it(`are 400 as ${names}`, async () => {
      const { code, body } = await write('POST', '/namespaces/b1/roles', from(names))
      expect([code, membersOf(body).message]).to.deep.equal([
        400,
        `invalid annotation ${annotation}: expected a JSON list of at most 256 names`,
      ])
    })
})
