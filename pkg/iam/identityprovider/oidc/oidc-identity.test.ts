import { expect } from 'chai'
import { Status } from '../../../apierrors/status.ts'
import { rejectionReason } from '../linking/login-error.ts'
import { toIdentity } from './oidc-identity.ts'

describe('toIdentity', () => {
  const keys = { emailKey: 'email', preferredUsernameKey: '', groupsKey: 'groups' }

  const groups: readonly [string, string, object, readonly string[] | 'unknown'][] = [
    ['a list', 'groups', { groups: ['a', 'b'] }, ['a', 'b']],
    ['an empty list', 'groups', { groups: [] }, []],
    ['a string', 'groups', { groups: 'a b' }, ['a b']],
    ['a token without the claim', 'groups', {}, 'unknown'],
    ['null', 'groups', { groups: null }, 'unknown'],
    ['a list next to distributed claims', 'groups', { groups: ['a'], _claim_names: { x: 's' } }, ['a']],
    ['a list from userinfo', 'groups', { groups: ['a'], _claim_names: { groups: 's' } }, ['a']],
    ['distributed claims for other claims', 'groups', { _claim_names: { address: 's' } }, 'unknown'],
    ['a member', 'realm_access.roles', { realm_access: { roles: ['a'] } }, ['a']],
    ['a claim name with dots', 'https://id.test/groups', { 'https://id.test/groups': ['a'] }, ['a']],
    [
      'a claim name with dots, before a nested path',
      'a.b',
      { a: { b: ['inner'] }, 'a.b': ['outer'] },
      ['outer'],
    ],
    [
      'a nested field with dots in its name',
      'resource_access.my.app.roles',
      { resource_access: { 'my.app': { roles: ['a'] } } },
      ['a'],
    ],
    ['roles of a user whose groups are distributed claims', 'roles', { hasgroups: true }, 'unknown'],
    [
      'a list with duplicates and empty names, which linking removes',
      'groups',
      { groups: ['', 'a', 'a'] },
      ['', 'a', 'a'],
    ],
    [
      'a claim whose name ends in a URL path',
      'https://id.test/x.y/groups',
      { 'https://id.test/x.y/groups': 'a' },
      ['a'],
    ],
    ['an empty text', 'groups', { groups: '' }, ['']],
    ['the address of other groups', 'roles', { 'groups:src1': 'x', hasgroups: true }, 'unknown'],
    ['a field of a claim that is not an object', 'a.b', { a: ['b'] }, 'unknown'],
    ['a property of Object.prototype', 'constructor.name', {}, 'unknown'],
  ]
  for (const [what, groupsKey, claims, expected] of groups) {
    it(`finds the expected groups in ${what}`, () => {
      expect(toIdentity({ ...keys, groupsKey }, { ...claims }, 'u1').groups).to.deep.equal(expected)
    })
  }

  const refused: readonly [string, string, object, string, RegExp][] = [
    [
      'a list with null',
      'groups',
      { groups: ['a', null] },
      'provider_groups_invalid',
      /with null \(object\)/,
    ],
    ['a list of numbers', 'groups', { groups: [1, 2] }, 'provider_groups_invalid', /with 1 \(number\)/],
    [
      'a very long value',
      'groups',
      { groups: [{ x: 'y'.repeat(9_999) }] },
      'provider_groups_invalid',
      /^Error: invalid claim groups: expected a list of strings, got a list with \{"x":"y{250} \(object\); see groupsKey$/,
    ],
    [
      'an empty list with overage',
      'groups',
      { groups: [], _claim_names: { groups: 's' } },
      'provider_groups_incomplete',
      /is \[\], but the token has _claim_names\.groups/,
    ],
    [
      'null with hasgroups as text',
      'groups',
      { groups: null, hasgroups: 'True' },
      'provider_groups_incomplete',
      /the claim groups is missing, but the token has hasgroups/,
    ],
    [
      'the address of the groups',
      'groups',
      { 'groups:src1': 'https://graph.example.com/x' },
      'provider_groups_incomplete',
      /has groups:src1/,
    ],
    [
      'the address of the groups, converted from SAML',
      'groups',
      { 'http://schemas.microsoft.com/claims/groups.link': 'https://graph.example.com/x' },
      'provider_groups_incomplete',
      /has http:\/\/schemas\.microsoft\.com\/claims\/groups\.link/,
    ],
    [
      'overage of a claim name with slashes',
      'https://id.test/groups',
      { _claim_names: { 'https://id.test/groups': 's' } },
      'provider_groups_incomplete',
      /has _claim_names\.https:\/\/id\.test\/groups/,
    ],
    ['overage', 'groups', { _claim_names: { groups: 's' } }, 'provider_groups_incomplete', /_claim_names/],
    ['a tenant’s group overage', 'groups', { hasgroups: true }, 'provider_groups_incomplete', /hasgroups/],
    ['an overage object', 'a.b', { _claim_names: { a: 's' } }, 'provider_groups_incomplete', /a\.b/],
    [
      'an object',
      'groups',
      { groups: { a: true } },
      'provider_groups_invalid',
      /expected a list of strings, got \{"a":true\} \(object\)/,
    ],
    ['a number', 'groups', { groups: 7 }, 'provider_groups_invalid', /got 7 \(number\)/],
    ['true', 'groups', { groups: true }, 'provider_groups_invalid', /got true \(boolean\)/],
    [
      'an array of objects',
      'groups',
      { groups: ['a', { name: 'b' }] },
      'provider_groups_invalid',
      /a list with \{"name":"b"\} \(object\)/,
    ],
    [
      'a nested array',
      'groups',
      { groups: [['a'], [['b']]] },
      'provider_groups_invalid',
      /a list with \["a"\] \(object\)/,
    ],
    [
      'an object around the array',
      'realm_access',
      { realm_access: { roles: [] } },
      'provider_groups_invalid',
      /object/,
    ],
  ]
  for (const [what, groupsKey, claims, reason, why] of refused) {
    it(`rejects groups that are ${what}, and logs the name of the claim`, () => {
      let thrown: unknown
      try {
        toIdentity({ ...keys, groupsKey }, { ...claims }, 'u1')
      } catch (error) {
        thrown = error
      }
      if (!(thrown instanceof Status)) throw new Error('not refused')
      expect([thrown.code, rejectionReason(thrown)]).to.deep.equal([400, reason])
      const cause =
        thrown.cause instanceof Error && thrown.cause.cause instanceof Error ? thrown.cause.cause : thrown
      expect(cause.message).to.match(why).and.include(groupsKey)
    })
  }

  it('reads the name and the e-mail address from nested fields, too', () => {
    const nested = { emailKey: 'contact.mail', preferredUsernameKey: 'account.login', groupsKey: '' }
    const claims = { contact: { mail: 'ann@example.com' }, account: { login: 'ann' }, name: 'Ann' }
    expect(toIdentity(nested, claims, 'u1')).to.deep.equal({
      uid: 'u1',
      username: 'ann',
      email: 'ann@example.com',
      displayName: 'Ann',
      groups: undefined,
    })
  })

  for (const [claim, isVerified] of [
    ...[true, 'true', 'True', 'TRUE'].map(value => [value, true] as const),
    ...[false, 'false', 'False', 'FALSE', 'no', '', 0, 1, null, [], {}].map(value => [value, false] as const),
  ])
    it(`${isVerified ? 'uses' : 'ignores'} an e-mail address whose email_verified is ${JSON.stringify(claim)}`, () => {
      const { email } = toIdentity(keys, { email: 'a@b.c', email_verified: claim }, 'u1')
      expect(email).to.equal(isVerified ? 'a@b.c' : '')
    })

  it('uses an e-mail address of a provider that sends no email_verified', () => {
    expect(toIdentity(keys, { email: 'a@b.c' }, 'u1').email).to.equal('a@b.c')
  })
})
