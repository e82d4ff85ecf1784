import { expect } from 'chai'
import { Status } from '../../../apierrors/status.ts'
import { refusalReason } from '../linking/login-refusal.ts'
import { toIdentity } from './oidc-identity.ts'

describe('toIdentity', () => {
  const keys = { emailKey: 'email', preferredUsernameKey: '', groupsKey: 'groups' }

  const groups: readonly [string, string, object, readonly string[] | 'unknown'][] = [
    ['a list', 'groups', { groups: ['a', 'b'] }, ['a', 'b']],
    ['an empty list', 'groups', { groups: [] }, []],
    ['one text', 'groups', { groups: 'a b' }, ['a b']],
    ['no claim', 'groups', {}, 'unknown'],
    ['null', 'groups', { groups: null }, 'unknown'],
    ['a list and sources of other claims', 'groups', { groups: ['a'], _claim_names: { x: 's' } }, ['a']],
    ['a list that userinfo has', 'groups', { groups: ['a'], _claim_names: { groups: 's' } }, ['a']],
    ['sources of other claims alone', 'groups', { _claim_names: { address: 's' } }, 'unknown'],
    ['a member', 'realm_access.roles', { realm_access: { roles: ['a'] } }, ['a']],
    ['a name with dots', 'https://id.test/groups', { 'https://id.test/groups': ['a'] }, ['a']],
    ['the name with dots first', 'a.b', { a: { b: ['inner'] }, 'a.b': ['outer'] }, ['outer']],
    [
      'a member with dots',
      'resource_access.my.app.roles',
      { resource_access: { 'my.app': { roles: ['a'] } } },
      ['a'],
    ],
    ['no roles of someone whose groups are elsewhere', 'roles', { hasgroups: true }, 'unknown'],
    ['a member of no object', 'a.b', { a: ['b'] }, 'unknown'],
    ['what every object inherits', 'constructor.name', {}, 'unknown'],
  ]
  for (const [what, groupsKey, claims, expected] of groups) {
    it(`reads groups from ${what}`, () => {
      expect(toIdentity({ ...keys, groupsKey }, { ...claims }, 'u1').groups).to.deep.equal(expected)
    })
  }

  const refused: readonly [string, string, object, string, RegExp][] = [
    ['overage', 'groups', { _claim_names: { groups: 's' } }, 'provider_groups_incomplete', /_claim_names/],
    ['overage of a tenant', 'groups', { hasgroups: true }, 'provider_groups_incomplete', /hasgroups/],
    ['overage of an object', 'a.b', { _claim_names: { a: 's' } }, 'provider_groups_incomplete', /a\.b/],
    ['an object', 'groups', { groups: { a: true } }, 'provider_groups_invalid', /not object/],
    ['a number', 'groups', { groups: 7 }, 'provider_groups_invalid', /not number/],
    ['true', 'groups', { groups: true }, 'provider_groups_invalid', /not boolean/],
    [
      'a list of objects',
      'groups',
      { groups: ['a', { name: 'b' }] },
      'provider_groups_invalid',
      /with object/,
    ],
    ['a list in a list', 'groups', { groups: [['a']] }, 'provider_groups_invalid', /with object/],
    [
      'an object around them',
      'realm_access',
      { realm_access: { roles: [] } },
      'provider_groups_invalid',
      /object/,
    ],
  ]
  for (const [what, groupsKey, claims, reason, why] of refused) {
    it(`refuses groups that are ${what}, and names the claim for the log`, () => {
      let thrown: unknown
      try {
        toIdentity({ ...keys, groupsKey }, { ...claims }, 'u1')
      } catch (error) {
        thrown = error
      }
      if (!(thrown instanceof Status)) throw new Error('not refused')
      expect([thrown.code, refusalReason(thrown)]).to.deep.equal([400, reason])
      const cause =
        thrown.cause instanceof Error && thrown.cause.cause instanceof Error ? thrown.cause.cause : thrown
      expect(cause.message).to.match(why).and.include(groupsKey)
    })
  }

  it('reads the name and the address from members, too', () => {
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

  it('takes no address that the provider does not vouch for', () => {
    for (const unverified of [false, 'false'])
      expect(toIdentity(keys, { email: 'a@b.c', email_verified: unverified }, 'u1').email).to.equal('')
  })
})
