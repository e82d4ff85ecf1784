import { iamVersion } from '../../../pkg/iam/users/user.ts'
import type { KubeObject } from '../../../pkg/kubeclient/object/object.ts'

type Kind = {
  readonly plural: string
  readonly kind: string
  readonly path: (domain: string) => string
  /** Returns how to achieve the same in Kapis. */
  readonly advice: (to: string) => string
  /**
   * Reports whether an object has to be migrated, unlike built-in objects. Defaults to all objects.
   */
  readonly counts?: (object: KubeObject, from: string) => boolean
}

const iam = (plural: string) => (domain: string) => `/apis/iam.${domain}/${iamVersion}/${plural}`
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
    plural: 'groups',
    kind: 'Group',
    path: iam('groups'),
    advice: () => 'groups are names in spec.groups of users; their aliases are not migrated',
  },
  {
    plural: 'workspacetemplates',
    kind: 'WorkspaceTemplate',
    path: domain => `/apis/tenant.${domain}/v1alpha2/workspacetemplates`,
    advice: to => `create Workspaces of tenant.${to}, and label their namespaces ${to}/workspace`,
  },
]

const mostNamed = 5

/**
 * Reports the number of objects of each kind that is not migrated, with advice.
 *
 * @param list returns the objects at a path; none if kube-apiserver does not serve it
 */
export async function leftBehind(
  list: (path: string, isBad: (name: string) => void) => Promise<readonly KubeObject[]>,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<readonly string[]> {
  const found = await Promise.all(
    kinds.map(async each => {
      const bad: string[] = []
      try {
        const objects = await list(each.path(from), name => bad.push(name))
        const counted = objects.filter(object => each.counts?.(object, from) ?? true)
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
    const names = each.names.slice(0, mostNamed)
    const more = each.names.length > mostNamed ? ` and ${each.names.length - mostNamed} more` : ''
    return [`${kind} ${names.join(', ')}${more}: not migrated; ${advice(to)}`]
  })
}
