import { expect } from 'chai'
import { fieldsOf } from '../../../../kubeclient/object/object.ts'
import { areRulesIncluded } from './role-templates.ts'
import { serveRoleRoutes, usersRule, viewRule } from './served-fixtures.ts'

describe('role templates', () => {
  const { calls, denied, send, write } = serveRoleRoutes()
  const annotation = 'iam.kapis.io/aggregation-roles'
  const from = (names: string, more: object = {}) => ({
    metadata: { name: 'made', annotations: { [annotation]: names } },
    ...more,
  })
  const sentRules = () => calls.map(call => Object(Object(call).body).rules)

  it('add their rules to a role, each once', async () => {
    const body = from('["template-view","template-users","template-view"]', { rules: [usersRule] })
    expect((await write('POST', '/namespaces/b1/roles', body)).code).to.equal(200)
    expect(sentRules()).to.deep.equal([[viewRule, usersRule]])
  })

  it('are removed from a role with their rules, with a warning', async () => {
    const response = await send(
      'PUT',
      '/namespaces/b1/roles/made',
      from('["template-view"]', { rules: [viewRule, usersRule] }),
    )
    expect([response.status, response.headers.get('warning')]).to.deep.equal([
      200,
      '299 - "only the rules of the role templates are used"',
    ])
    expect(sentRules()).to.deep.equal([[viewRule]])
  })

  it('are removed with their rules when the role names none; other rules stay', async () => {
    const own = { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'] }
    const response = await send(
      'PUT',
      '/namespaces/b1/roles/made',
      from('[]', { rules: [viewRule, own, usersRule] }),
    )
    expect([response.status, response.headers.get('warning')]).to.deep.equal([
      200,
      '299 - "the rules of role templates are removed, since the role names none"',
    ])
    expect(sentRules()).to.deep.equal([[own]])
  })

  it('leave other rules unchanged when the role names none', async () => {
    const own = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] }
    const response = await send('PUT', '/namespaces/b1/roles/made', from('[]', { rules: [own] }))
    expect([response.status, response.headers.get('warning')]).to.deep.equal([200, null])
    expect(sentRules()).to.deep.equal([[own]])
  })

  it('are not removed by a patch without rules, with a warning', async () => {
    const response = await send('PATCH', '/namespaces/b1/roles/made', from('[]'))
    expect([response.status, response.headers.get('warning')]).to.deep.equal([
      200,
      '299 - "the rules of the role are unchanged: the patch has no rules"',
    ])
    expect(sentRules()).to.deep.equal([undefined])
  })

  it('that do not exist do not change the rules of a role', async () => {
    const body = from('["none"]', { rules: [usersRule] })
    expect((await write('PUT', '/namespaces/b1/roles/made', body)).code).to.equal(200)
    expect(sentRules()).to.deep.equal([[usersRule]])
  })

  it('that do not exist add nothing, like any missing ClusterRole, with a warning', async () => {
    const response = await send(
      'POST',
      '/namespaces/b1/roles',
      from('["cluster-admin","none","template-view"]'),
    )
    expect(response.headers.get('warning')).to.equal(
      '299 - "ignored unknown role templates: cluster-admin, none"',
    )
    expect(sentRules()).to.deep.equal([[viewRule]])
  })

  it('require the permission to list ClusterRoles', async () => {
    denied.add('clusterroles')
    expect((await write('POST', '/namespaces/b1/roles', from('["template-view"]'))).code).to.equal(403)
    expect(calls).to.deep.equal([])
  })

  for (const names of ['x', '{}', '[1]'])
    it(`are rejected as ${names}`, async () => {
      const { code, body } = await write('POST', '/namespaces/b1/roles', from(names))
      expect([code, fieldsOf(body).message]).to.deep.equal([
        400,
        `invalid annotation ${annotation}: expected a JSON list of at most 256 names`,
      ])
    })

  it('are compared with many rules in little time, with fields in any order', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({ verbs: ['get'], resources: [`r${i}`] }))
    const sent = many.map(({ verbs, resources }) => ({ resources, verbs }))
    const start = performance.now()
    expect(areRulesIncluded(sent, many)).to.equal(true)
    expect(performance.now() - start).to.be.lessThan(2_000)
    expect(areRulesIncluded([...sent, { verbs: ['get'] }], many)).to.equal(false)
  })
})
