import { iamGroup, resourcesGroup, type Scene } from './model.ts'

type Subject = { readonly kind: 'ServiceAccount' | 'User' | 'Group'; readonly name: string }
type Rule = {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

const rbac = 'rbac.authorization.k8s.io'
const reading = ['get', 'list', 'watch']
const platform = ['', resourcesGroup]

/** Returns ClusterRoles and bindings with the permissions of the callers. */
export function permissionsOf(
  { namespaces, names, user, deputies, subjects }: Omit<Scene, 'callers' | 'remove'>,
  labels: Readonly<Record<string, string>>,
): readonly object[] {
  const objects: object[] = []
  function grant(subject: Subject, rules: readonly Rule[], namespace = ''): void {
    const name = `${namespaces.a}-${objects.length}`
    const metadata = { name, labels, ...(namespace === '' ? {} : { namespace }) }
    const apiVersion = `${rbac}/v1`
    const isAccount = subject.kind === 'ServiceAccount'
    objects.push(
      { apiVersion, kind: 'ClusterRole', metadata: { name, labels }, rules },
      {
        apiVersion,
        kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
        metadata,
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
        subjects: [{ ...subject, ...(isAccount ? { namespace: namespaces.a } : { apiGroup: rbac }) }],
      },
    )
  }
  const account = (name: string): Subject => ({ kind: 'ServiceAccount', name })
  const read = (
    apiGroups: readonly string[],
    resources: readonly string[],
    resourceNames?: readonly string[],
  ) => ({
    ...{ apiGroups, resources, verbs: reading },
    ...(resourceNames === undefined ? {} : { resourceNames }),
  })
  const impersonate = (resource: string, name: string): Rule => ({
    ...{ apiGroups: [''], resources: [resource], verbs: ['impersonate'], resourceNames: [name] },
  })

  grant(account('named'), [read(platform, ['secrets', 'configmaps'], [names.mine, names.map])], namespaces.a)
  grant(account('named'), [
    read(platform, ['nodes'], [names.node]),
    read(platform, ['namespaces'], [namespaces.b]),
    read([iamGroup], ['users'], [user]),
  ])
  grant(account('viewer'), [read(['*'], ['*'])], namespaces.a)
  grant(account('watcher'), [{ apiGroups: ['*'], resources: ['*', '*/*'], verbs: ['watch'] }])
  grant(account('platform'), [read([resourcesGroup], ['*'])])
  grant(account('impersonator'), [impersonate('serviceaccounts', 'reviewer')], namespaces.a)
  grant(account('impersonator'), [impersonate('users', deputies.user)])
  grant(account('reviewer'), [read(platform, ['configmaps', 'pods'])], namespaces.a)
  const verbs = [...reading, 'create', 'update', 'patch']
  grant(
    account('editor'),
    [{ apiGroups: ['', iamGroup], resources: ['configmaps', 'pods/*'], verbs }],
    namespaces.a,
  )
  grant(
    { kind: 'User', name: deputies.user },
    [{ ...read(platform, ['configmaps']), verbs: ['list'] }],
    namespaces.b,
  )
  grant(
    { kind: 'User', name: subjects.nonAscii },
    [{ ...read(platform, ['configmaps']), verbs: ['get'] }],
    namespaces.a,
  )
  grant({ kind: 'User', name: user }, [{ ...read(platform, ['pods']), verbs: ['get', 'list'] }], namespaces.b)
  grant({ kind: 'Group', name: subjects.all }, [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])
  return objects
}
