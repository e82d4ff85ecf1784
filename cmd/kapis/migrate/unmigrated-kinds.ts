import { iamVersion } from '../../../pkg/iam/users/user.ts'
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../../pkg/kubeclient/object/object.ts'

type Kind = {
  readonly plural: string
  readonly kind: string
  readonly path: (domain: string) => string
  /** Returns how to achieve the same in Kapis. */
  readonly advice: (to: string) => string
  /** Whether a Kapis with the group domain of KubeSphere uses the objects. */
  readonly isUsedInPlace?: true
  /** Reports whether an object has to be migrated. Defaults to all objects. */
  readonly counts?: (object: KubeObject, from: string, users: ReadonlySet<string>) => boolean
}

const iam = (plural: string) => (domain: string) => `/apis/iam.${domain}/${iamVersion}/${plural}`

/**
 * Reports whether a binding has a subject other than an existing user. Bindings of existing users
 * are listed with the migration of these users.
 */
function hasOtherSubject({ subjects }: KubeObject, _from: string, users: ReadonlySet<string>): boolean {
  const all = itemsOf(subjects).map(fieldsOf)
  return all.length === 0 || all.some(({ kind, name }) => kind !== 'User' || !users.has(textOf(name)))
}

/** Reports whether a GroupBinding has no group, or a member that is not an existing user. */
function isIncomplete(
  { groupRef, users: members }: KubeObject,
  _from: string,
  users: ReadonlySet<string>,
): boolean {
  const isNamed = textOf(fieldsOf(groupRef).name) !== ''
  return !isNamed || itemsOf(members).some(member => !users.has(textOf(member)))
}

const isOwn = ({ metadata: { labels = {}, annotations = {} } }: KubeObject, from: string) =>
  labels[`iam.${from}/role-template`] === undefined && annotations[`${from}/creator`] !== 'system'

/** Kinds of KubeSphere 3.4 that `kapis migrate users` does not migrate. */
const kinds: readonly Kind[] = [
  {
    plural: 'globalroles',
    kind: 'GlobalRole',
    path: iam('globalroles'),
    counts: isOwn,
    advice: to => `create ClusterRoles with the label iam.${to}/scope: global`,
  },
  {
    plural: 'workspaceroles',
    kind: 'WorkspaceRole',
    path: iam('workspaceroles'),
    counts: isOwn,
    advice: to => `create ClusterRoles with the label ${to}/workspace`,
  },
  {
    plural: 'workspacerolebindings',
    kind: 'WorkspaceRoleBinding',
    path: iam('workspacerolebindings'),
    advice: () => 'create RoleBindings in the namespaces of the workspace',
  },
  {
    plural: 'globalrolebindings',
    kind: 'GlobalRoleBinding',
    path: iam('globalrolebindings'),
    counts: hasOtherSubject,
    advice: () =>
      'it has no subject, a group, a service account or a user who does not exist: create ClusterRoleBindings',
  },
  {
    plural: 'groupbindings',
    kind: 'GroupBinding',
    path: iam('groupbindings'),
    counts: isIncomplete,
    advice: () => 'it has no group, or users who do not exist',
  },
  {
    plural: 'groups',
    isUsedInPlace: true,
    kind: 'Group',
    path: iam('groups'),
    advice: () => 'groups are names in spec.groups of users; their aliases are not migrated',
  },
  {
    plural: 'workspacetemplates',
    isUsedInPlace: true,
    kind: 'WorkspaceTemplate',
    path: domain => `/apis/tenant.${domain}/v1alpha2/workspacetemplates`,
    advice: to => `create Workspaces of tenant.${to}, and label their namespaces ${to}/workspace`,
  },
  {
    plural: 'resourcequotas',
    kind: 'ResourceQuota (of workspaces)',
    path: domain => `/apis/quota.${domain}/v1alpha2/resourcequotas`,
    advice: () => 'create ResourceQuotas in the namespaces of the workspace',
  },
  {
    plural: 'clusters',
    isUsedInPlace: true,
    kind: 'Cluster',
    path: domain => `/apis/cluster.${domain}/v1alpha1/clusters`,
    counts: ({ metadata }) => metadata.name !== 'host',
    advice: to => `create Clusters of cluster.${to}, and a Secret with each kubeconfig (docs/clusters.md)`,
  },
]

const maxNames = 5

/**
 * Reports the number of objects of each kind that is not migrated, with advice.
 *
 * @param list returns the objects at a path; none if kube-apiserver does not serve it
 */
export async function findUnmigrated(
  list: (path: string, isBad: (name: string) => void) => Promise<readonly KubeObject[]>,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<readonly string[]> {
  // An error here is ignored: planUsers, which runs first, lists the users and fails if it cannot.
  const users = new Set(
    (await list(iam('users')(from), () => undefined)).map(({ metadata }) => metadata.name),
  )
  const found = await Promise.all(
    kinds
      .filter(({ isUsedInPlace }) => from !== to || isUsedInPlace !== true)
      .map(async each => {
        const bad: string[] = []
        try {
          const objects = await list(each.path(from), name => bad.push(name))
          const counted = objects.filter(object => each.counts?.(object, from, users) ?? true)
          return { ...each, names: [...counted.map(({ metadata }) => metadata.name), ...bad] }
        } catch (error) {
          return { ...each, failure: error instanceof Error ? error.message : String(error) }
        }
      }),
  )
  return found.flatMap(each => {
    const { kind, advice } = each
    if ('failure' in each) return [`${kind}: not migrated, and failed to list them: ${each.failure}`]
    if (each.names.length === 0) return []
    const names = each.names.slice(0, maxNames)
    const more = each.names.length > maxNames ? ` and ${each.names.length - maxNames} more` : ''
    return [`${kind} ${names.join(', ')}${more}: not migrated; ${advice(to)}`]
  })
}
