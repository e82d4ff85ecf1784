import { expect } from 'chai'
import type { Identity } from '../request/identity.ts'
import { toImpersonation } from './impersonation.ts'

const nobody: Identity = { username: 'jane', uid: '', groups: [], extra: {} }

describe('toImpersonation', () => {
  const cases: readonly (readonly [what: string, identity: Identity, lines: readonly string[]])[] = [
    ['a bare user', nobody, ['Impersonate-User', 'jane']],
    [
      'each group on a line of its own, in order',
      { ...nobody, groups: ['b', 'a'] },
      ['Impersonate-User', 'jane', 'Impersonate-Group', 'b', 'Impersonate-Group', 'a'],
    ],
    [
      'all groups but the one that kube-apiserver adds',
      { ...nobody, groups: ['dev', 'system:authenticated'] },
      ['Impersonate-User', 'jane', 'Impersonate-Group', 'dev'],
    ],
    ['the uid', { ...nobody, uid: 'u-1' }, ['Impersonate-User', 'jane', 'Impersonate-Uid', 'u-1']],
    [
      'every value of an extra field',
      { ...nobody, extra: { scopes: ['x', 'y'] } },
      ['Impersonate-User', 'jane', 'Impersonate-Extra-scopes', 'x', 'Impersonate-Extra-scopes', 'y'],
    ],
    [
      'an extra key that is no header name, as client-go encodes it',
      { ...nobody, extra: { 'authentication.kubernetes.io/pod-name': ['p'], "a'b(c)*": ['q'] } },
      [
        ...['Impersonate-User', 'jane', 'Impersonate-Extra-authentication.kubernetes.io%2fpod-name', 'p'],
        ...['Impersonate-Extra-a%27b%28c%29%2a', 'q'],
      ],
    ],
  ]
  for (const [what, identity, lines] of cases) {
    it(`says ${what}`, () => {
      expect(toImpersonation(identity)).to.deep.equal(lines)
    })
  }

  it('writes names as UTF-8, which is what kube-apiserver reads', () => {
    const [, user = ''] = toImpersonation({ ...nobody, username: 'Jörg' })
    expect(Buffer.from(user, 'latin1').toString('utf8')).to.equal('Jörg')
  })

  it('is made once for an identity', () => {
    const identity = { ...nobody }
    expect(toImpersonation(identity)).to.equal(toImpersonation(identity))
  })
})
