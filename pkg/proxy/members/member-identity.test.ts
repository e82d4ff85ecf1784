import { expect } from 'chai'
import { anonymous, type Identity } from '../../apirequest/identity/identity.ts'
import { toImpersonation } from '../identity-headers.ts'
import { toMemberIdentity } from './member-identity.ts'

const jane: Identity = { username: 'jane', uid: 'u-1', groups: ['dev'], extra: { 'acme.com/x': ['1', '2'] } }

describe('toMemberIdentity', () => {
  it('contains the caller with uid, groups and extra', () => {
    expect(toMemberIdentity(jane)).to.deep.equal(jane)
    expect(toMemberIdentity(jane)).to.equal(toMemberIdentity(jane))
  })

  it('omits groups and extra keys that Kubernetes reserves', () => {
    const groups = [
      'system:masters',
      'dev',
      'system:nodes',
      'system:serviceaccounts:a',
      'system:authenticated',
      'system:unauthenticated',
      'kubeadm:cluster-admins',
      'my:system:masters',
    ]
    const extra = {
      'authentication.kubernetes.io/node-name': ['n'],
      'kubernetes.io/x': ['1'],
      'x.k8s.io/y': ['1'],
      'mykubernetes.io/x': ['1'],
      scopes: ['a'],
    }
    const expected = {
      ...jane,
      groups: ['dev', 'my:system:masters'],
      extra: { 'mykubernetes.io/x': ['1'], scopes: ['a'] },
    }
    const member = toMemberIdentity({ ...jane, groups, extra, isReadOnly: true })
    expect(member).to.deep.equal(expected)
    expect(toImpersonation(member)).to.deep.equal([
      ...['Impersonate-User', 'jane', 'Impersonate-Uid', 'u-1'],
      ...['Impersonate-Group', 'dev', 'Impersonate-Group', 'my:system:masters'],
      ...['Impersonate-Extra-mykubernetes.io%2fx', '1', 'Impersonate-Extra-scopes', 'a'],
    ])
  })

  const refused = [
    anonymous,
    { ...jane, username: 'system:anonymous' },
    { ...jane, username: 'system:serviceaccount:a:b' },
    { ...jane, username: 'system:node:n' },
    { ...jane, username: 'system:kube-controller-manager' },
    { ...jane, username: 'kubeadm:x' },
    { ...jane, isTrimmed: true },
  ]
  for (const identity of refused) {
    it(`rejects ${identity.username}`, () => {
      expect(() => toMemberIdentity(identity))
        .to.throw(
          `user ${JSON.stringify(identity.username)} exists in this cluster only, and cannot be impersonated in a member cluster`,
        )
        .with.property('code', 403)
    })
  }
})
