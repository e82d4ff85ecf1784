import { expect } from 'chai'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { isNamedInRbac } from './rbac-subject-lookup.ts'

function kubeApiserver(bindings: Readonly<Record<string, readonly unknown[]>>): KubeClient {
  const metadata = { name: 'b', uid: 'u', resourceVersion: '1', creationTimestamp: '' }
  return {
    async call({ path }) {
      const subjects = bindings[path.slice(path.lastIndexOf('/') + 1)]
      return { metadata: { resourceVersion: '1' }, items: [{ metadata }, { metadata, subjects }] }
    },
    stream: () => Promise.reject(new Error('not used')),
    close: () => undefined,
  }
}

describe('isNamedInRbac', () => {
  const user = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'root' }
  const rows: readonly [string, Readonly<Record<string, readonly unknown[]>>, boolean][] = [
    ['a cluster role binding names', { clusterrolebindings: [user] }, true],
    ['a role binding names, among others', { rolebindings: [{ ...user, name: 'other' }, user] }, true],
    ['only a group of the same name resembles', { clusterrolebindings: [{ ...user, kind: 'Group' }] }, false],
    [
      'only a service account of the same name resembles',
      { rolebindings: [{ kind: 'ServiceAccount', name: 'root' }] },
      false,
    ],
    ['nothing names', { clusterrolebindings: [{ ...user, name: 'rooty' }], rolebindings: [] }, false],
  ]
  for (const [what, bindings, isNamed] of rows)
    it(`returns ${isNamed} for a user whom ${what}`, async () =>
      expect(await isNamedInRbac(kubeApiserver(bindings), 'root')).to.equal(isNamed))
})
