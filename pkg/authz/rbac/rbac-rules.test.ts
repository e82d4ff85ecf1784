import { expect } from 'chai'
import { jane } from '../../apirequest/fixtures.ts'
import { parseRules } from '../review/rule.ts'
import { keysOfCaller, type Permission, rulesGrant, subjectKeys } from './rbac-rules.ts'

const logs: Permission = { verb: 'get', group: '', resource: 'pods', subresource: 'log' }
const rule = { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }

describe('rulesGrant', () => {
  const cases: readonly [what: string, rules: unknown, isGranted: boolean, permission?: 'any'][] = [
    ['the permission among others', [{ ...rule, verbs: ['list'] }, rule], true],
    ['any resource with the subresource', [{ ...rule, resources: ['*/log'] }], true],
    ['the resource without its subresource', [{ ...rule, resources: ['pods'] }], false],
    [
      'matching parts in different rules',
      [
        { ...rule, verbs: ['list'] },
        { ...rule, resources: ['a'] },
      ],
      false,
    ],
    ['some resource names only', [{ ...rule, resourceNames: ['web-0'] }], false],
    ['no rules', undefined, false],
    ['a rule for a resource, if the permission is for any resource', [rule], true, 'any'],
    [
      'a rule for URLs only, if the permission is for any resource',
      [{ nonResourceURLs: ['*'], verbs: ['get'] }],
      false,
      'any',
    ],
  ]
  for (const [what, rules, isGranted, permission = logs] of cases) {
    it(`${isGranted ? 'allows' : 'denies'} with ${what}`, () =>
      expect(rulesGrant(parseRules(rules), permission)).to.equal(isGranted))
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
