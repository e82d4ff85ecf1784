import { expect } from 'chai'
import { toUser, type User } from '../users/user.ts'
import { isObsoleteSession, type Session, toLoginSession, toSession } from './session.ts'

const session: Session = {
  sid: 's1',
  resourceVersion: '9',
  type: '',
  displayName: '',
  createdAtMs: Date.parse('2025-12-31T23:00:00Z'),
  user: 'alice',
  userUid: 'u1',
  userGeneration: 2,
  credential: 'c1',
  provider: 'github',
  clientId: 'kapis',
  scope: 'openid',
  authenticatedAtMs: Date.parse('2025-12-31T22:00:00Z'),
  amr: '',
  parent: 's0',
  browserSid: 'b1',
  refreshId: 'r2',
  previousRefreshId: 'r1',
  rotatedAtMs: Date.parse('2026-01-01T00:00:00Z'),
  expiresAtMs: Date.parse('2026-01-01T04:00:00Z'),
  ended: 'logout',
}

describe('toLoginSession', () => {
  it('is parsed as it was written', () => {
    const { metadata, ...rest } = Object(toLoginSession(session, 'kapis.io'))
    const { name, resourceVersion } = metadata
    const stored = {
      ...rest,
      metadata: { name, resourceVersion, uid: '', creationTimestamp: '2025-12-31T23:00:00Z' },
    }
    expect(toSession(stored)).to.deep.equal(session)
  })

  it('has its user as owner, so that kube-apiserver deletes it with the user', () => {
    expect(Object(toLoginSession(session, 'a.io')).metadata.ownerReferences).to.deep.equal([
      { apiVersion: 'iam.a.io/v1alpha2', kind: 'User', name: 'alice', uid: 'u1' },
    ])
  })

  it('omits empty fields', () => {
    const begun = {
      ...session,
      resourceVersion: '',
      provider: '',
      parent: '',
      browserSid: '',
      previousRefreshId: '',
      ended: '',
      scope: '',
      authenticatedAtMs: 0,
    }
    const { metadata, spec } = Object(toLoginSession(begun, 'kapis.io'))
    expect(Object.keys(metadata)).to.deep.equal(['name', 'ownerReferences'])
    expect(Object.keys(spec).sort()).to.deep.equal([
      'clientId',
      'credential',
      'expiresAt',
      'refreshId',
      'rotatedAt',
      'user',
      'userGeneration',
      'userUid',
    ])
  })
})

describe('isObsoleteSession', () => {
  const alice: User = {
    ...toUser({ metadata: { name: 'alice', uid: 'u1', resourceVersion: '1', creationTimestamp: '' } }),
    generation: 2,
    credential: 'c1',
  }
  const rows: readonly [string, Partial<Session>, Partial<User>, boolean][] = [
    ['nothing has changed', {}, {}, false],
    ['the user was changed, the password was not', {}, { generation: 3 }, false],
    ['the password was changed', {}, { generation: 3, credential: 'c2' }, true],
    ['the password was removed', {}, { generation: 3, credential: '' }, true],
    ['the known state of the user is older than the session', {}, { generation: 1, credential: 'c0' }, false],
    ['another user has the name', {}, { uid: 'u2' }, true],
    ['the login was not by password', { credential: '' }, { generation: 3, credential: 'c2' }, false],
    [
      'the session was created before passwords were recorded',
      { credential: '', userUid: '' },
      { uid: 'u2' },
      false,
    ],
  ]
  for (const [what, changed, user, expected] of rows) {
    it(`returns ${expected} if ${what}`, () => {
      expect(isObsoleteSession({ ...session, ...changed }, { ...alice, ...user })).to.equal(expected)
    })
  }
})
