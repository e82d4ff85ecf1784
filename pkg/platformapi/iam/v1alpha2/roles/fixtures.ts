import type { KubeObject } from '../../../../kubeclient/object/object.ts'
import { replaceAll } from '../../../../resourcecache/fixtures.ts'
import { namespaces } from '../../../../resourcecache/kinds/namespaces.ts'
import { plain } from '../../../../resourcecache/kinds/platform.ts'
import { ObjectStore } from '../../../../resourcecache/store/store.ts'

export const groupDomain = 'kapis.io'
export const rbac = 'rbac.authorization.k8s.io'
/** Path of the RBAC API of kube-apiserver. */
export const native = `/apis/${rbac}/v1`

export function object(kind: string, name: string, more: object = {}, meta: object = {}): KubeObject {
  const metadata = { name, uid: `u-${name}`, resourceVersion: '3', creationTimestamp: '2031-01-01T00:00:00Z' }
  return { kind, apiVersion: `${rbac}/v1`, metadata: { ...metadata, ...meta }, ...more }
}

/** @param role kind and name: `ClusterRole/view` @param subjects the same: `User/ann` */
export function binding(
  name: string,
  role: string,
  subjects: readonly string[],
  meta: object = {},
): KubeObject {
  const [kind, roleName] = role.split('/')
  return object(
    'RoleBinding',
    name,
    {
      roleRef: { apiGroup: rbac, kind, name: roleName },
      subjects: subjects.map(subject => {
        const [subjectKind, subjectName] = subject.split('/')
        return { apiGroup: rbac, kind: subjectKind, name: subjectName }
      }),
    },
    meta,
  )
}

/** Returns a cache of one kind that contains the items. */
export function storeOf(plural: string, items: readonly KubeObject[]): ObjectStore {
  const kind = {
    ...(plural === 'namespaces' ? namespaces(groupDomain) : plain),
    ...{ plural, singular: plural.slice(0, -1), kind: items[0]?.kind ?? '', shortNames: [] },
    ...{ categories: [], columns: [], namespaced: plural === 'roles' || plural === 'rolebindings' },
    source: { group: rbac, version: 'v1', path: `${native}/${plural}` },
  }
  const store = new ObjectStore({ kind, group: rbac, version: 'v1' })
  replaceAll(store, items, '10')
  return store
}
