import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { toImpersonation, toRemoteHeaders } from './identity-headers.ts'

const bare: Identity = { username: 'jane', uid: '', groups: [], extra: {} }

describe('toImpersonation', () => {
  const cases: readonly (readonly [what: string, identity: Identity, lines: readonly string[]])[] = [
    ['only a user', bare, ['Impersonate-User', 'jane']],
    [
      'each group in a separate header, in order',
      { ...bare, groups: ['b', 'a'] },
      ['Impersonate-User', 'jane', 'Impersonate-Group', 'b', 'Impersonate-Group', 'a'],
    ],
    [
      'all groups except the one that kube-apiserver adds',
      { ...bare, groups: ['dev', 'system:authenticated'] },
      ['Impersonate-User', 'jane', 'Impersonate-Group', 'dev'],
    ],
    [
      'a group for a service account without one, to which kube-apiserver would add others',
      { ...bare, username: 'system:serviceaccount:kube-system:a', groups: ['system:authenticated'] },
      [
        ...['Impersonate-User', 'system:serviceaccount:kube-system:a'],
        ...['Impersonate-Group', 'system:authenticated'],
      ],
    ],
    [
      'system:authenticated if kube-apiserver would not add it',
      { ...bare, groups: ['system:unauthenticated', 'system:authenticated'] },
      [
        ...['Impersonate-User', 'jane', 'Impersonate-Group', 'system:unauthenticated'],
        ...['Impersonate-Group', 'system:authenticated'],
      ],
    ],
    ['the uid', { ...bare, uid: 'u-1' }, ['Impersonate-User', 'jane', 'Impersonate-Uid', 'u-1']],
    [
      'every value of an extra field',
      { ...bare, extra: { scopes: ['x', 'y'] } },
      ['Impersonate-User', 'jane', 'Impersonate-Extra-scopes', 'x', 'Impersonate-Extra-scopes', 'y'],
    ],
    [
      'an extra key that is not a header name, as client-go encodes it',
      { ...bare, extra: { 'authentication.kubernetes.io/pod-name': ['p'], "a'b(c)*": ['q'] } },
      [
        ...['Impersonate-User', 'jane', 'Impersonate-Extra-authentication.kubernetes.io%2fpod-name', 'p'],
        ...['Impersonate-Extra-a%27b%28c%29%2a', 'q'],
      ],
    ],
  ]
  for (const [what, identity, lines] of cases) {
    it(`sends ${what}`, () => {
      expect(toImpersonation(identity)).to.deep.equal(lines)
    })
  }

  it('writes names as UTF-8, which is what kube-apiserver reads', () => {
    const [, user = ''] = toImpersonation({ ...bare, username: 'Jörg' })
    expect(Buffer.from(user, 'latin1').toString('utf8')).to.equal('Jörg')
  })

  it('returns the same headers for the same identity', () => {
    const identity = { ...bare }
    expect(toImpersonation(identity)).to.equal(toImpersonation(identity))
  })
})

describe('toRemoteHeaders', () => {
  it('contains the whole identity, with one header per group and value', () => {
    const identity = {
      ...{ username: 'Jörg', uid: 'u-1', groups: ['b', 'system:authenticated'] },
      extra: { 'acme.com/scopes': ['x', 'y'] },
    }
    expect(toRemoteHeaders(identity)).to.deep.equal([
      ...['X-Remote-User', Buffer.from('Jörg').toString('latin1'), 'X-Remote-Uid', 'u-1'],
      ...['X-Remote-Group', 'b', 'X-Remote-Group', 'system:authenticated'],
      ...['X-Remote-Extra-acme.com%2fscopes', 'x', 'X-Remote-Extra-acme.com%2fscopes', 'y'],
    ])
  })

  it('contains no empty headers', () => {
    expect(toRemoteHeaders({ username: 'a', uid: '', groups: [], extra: {} })).to.deep.equal([
      'X-Remote-User',
      'a',
    ])
  })
})

for (const write of [toImpersonation, toRemoteHeaders]) {
  describe(`${write === toImpersonation ? 'toImpersonation' : 'toRemoteHeaders'} with an identity that a header would change`, () => {
    const bad: readonly Identity[] = [
      { ...bare, groups: [' system:masters'] },
      { ...bare, groups: ['dev', 'system:masters\t'] },
      { ...bare, username: 'admin ' },
      { ...bare, uid: ' u-1' },
      { ...bare, groups: ['a\r\nImpersonate-Group: system:masters'] },
      { ...bare, extra: { scopes: ['x', ' y'] } },
    ]
    for (const identity of bad) {
      it(`rejects ${JSON.stringify(identity)}`, () => {
        try {
          write(identity)
          expect.fail('it was written')
        } catch (error) {
          expect(error).to.be.instanceOf(Status)
          expect(error).to.include({ code: 403, reason: 'Forbidden' })
        }
      })
    }
  })
}
