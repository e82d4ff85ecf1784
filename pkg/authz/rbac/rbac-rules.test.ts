import { expect } from 'chai'
import { jane } from '../../apirequest/fixtures.ts'
import { keysOfCaller, type Permission, ruleGrants, subjectKeys } from './rbac-rules.ts'

const logs: Permission = { verb: 'get', group: '', resource: 'pods/log' }
const rule = { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }

describe('ruleGrants', () => {
  const given: Readonly<Record<string, unknown>> = {
    exactly: [rule],
    'the resource among others': [
      { ...rule, verbs: ['list'] },
      { apiGroups: ['apps', ''], resources: ['pods', 'pods/log'], verbs: ['watch', 'get'] },
    ],
    'any verb': [{ ...rule, verbs: ['*'] }],
    'any resource': [{ ...rule, resources: ['*'] }],
    'any resource with the subresource': [{ ...rule, resources: ['*/log'] }],
    'any group': [{ ...rule, apiGroups: ['*'] }],
    'an empty list of names': [{ ...rule, resourceNames: [] }],
  }
  for (const [what, rules] of Object.entries(given)) {
    it(`allows with ${what}`, () => expect(ruleGrants(rules, logs)).to.equal(true))
  }

  const notGiven: Readonly<Record<string, unknown>> = {
    nothing: [],
    'missing lists': undefined,
    'no rules': [null, 'pods/log'],
    'the resource without its subresource': [{ ...rule, resources: ['pods'] }],
    'another subresource': [{ ...rule, resources: ['pods/exec', '*/exec'] }],
    'another verb': [{ ...rule, verbs: ['list', 'watch'] }],
    'another group': [{ ...rule, apiGroups: ['apps'] }],
    'matching parts in different rules': [
      { ...rule, verbs: ['list'] },
      { ...rule, resources: ['pods'] },
    ],
    'some resource names only': [{ ...rule, resourceNames: ['web-0'] }],
    URLs: [{ nonResourceURLs: ['*'], verbs: ['get'] }],
  }
  for (const [what, rules] of Object.entries(notGiven)) {
    it(`denies with ${what}`, () => expect(ruleGrants(rules, logs)).to.equal(false))
  }
})

describe('subjectKeys', () => {
  it('contains the keys of the caller', () => {
    const subjects = [
      { kind: 'User', name: 'jane' },
      { kind: 'Group', name: 'dev' },
      { kind: 'ServiceAccount', name: 'shipper', namespace: 'logging' },
      { kind: 'ServiceAccount', name: 'default' },
      { kind: 'Robot', name: 'r2' },
      { kind: 'User' },
      null,
    ]
    expect(subjectKeys(subjects, 'shop')).to.deep.equal([
      'user jane',
      'group dev',
      'user system:serviceaccount:logging:shipper',
      'user system:serviceaccount:shop:default',
    ])
    expect(keysOfCaller(jane)).to.deep.equal(['user jane', 'group dev', 'group system:authenticated'])
    expect(subjectKeys(undefined, 'shop')).to.deep.equal([])
  })
})
