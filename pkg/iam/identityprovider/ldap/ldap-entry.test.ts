import { expect } from 'chai'
import { Status } from '../../../apierrors/status.ts'
import { rejectionReason } from '../linking/login-error.ts'
import { toEntry } from './ldap-entry.ts'

describe('toEntry', () => {
  const entry = toEntry({
    dn: 'cn=ann,dc=test',
    CN: 'ann',
    mail: ['a@x.test', 'b@x.test'],
    memberOf: [],
    'memberOf;range=0-1499': Array.from({ length: 1_500 }, (_, i) => `cn=g${i},dc=test`),
    photo: Buffer.from([255]),
  })

  it('returns text values by names in any letter case', () => {
    expect([
      entry.values('cn'),
      entry.values('Mail'),
      entry.values('photo'),
      entry.values('x'),
    ]).to.deep.equal([['ann'], ['a@x.test', 'b@x.test'], [], []])
  })

  it('rejects an attribute of which Active Directory returned a part, instead of dropping groups', () => {
    let thrown: unknown
    try {
      entry.values('memberof')
    } catch (error) {
      thrown = error
    }
    if (!(thrown instanceof Status)) return expect.fail('no Status')
    expect([thrown.code, rejectionReason(thrown)]).to.deep.equal([400, 'provider_groups_incomplete'])
    expect(String(thrown.cause instanceof Error && thrown.cause.cause)).to.include('memberof;range=0-1499')
  })
})
