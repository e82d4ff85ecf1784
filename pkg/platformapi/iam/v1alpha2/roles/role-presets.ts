export type RoleScope = 'global' | 'cluster' | 'workspace' | 'namespace'

/** A predefined role of KubeSphere, and the ClusterRole with its permissions. */
export type Preset = {
  readonly name: string
  /** undefined for a role that no binding grants. */
  readonly clusterRole: string | undefined
  /** The modules that consoles show to users with the role; permissions come only from RBAC. */
  readonly modules: Readonly<Record<string, readonly string[]>>
}

const view = ['view']
const manage = ['view', 'create', 'edit', 'delete', 'manage']

const modules = {
  global: ['clusters', 'workspaces', 'users', 'roles', 'platform-settings'],
  cluster: [
    ...['nodes', 'components', 'projects', 'app-workloads', 'deployments', 'statefulsets', 'daemonsets'],
    ...['jobs', 'cronjobs', 'pods', 'services', 'ingresses', 'configmaps', 'secrets', 'serviceaccounts'],
    ...[
      'networkpolicies',
      'customresources',
      'volumes',
      'storageclasses',
      'cluster-settings',
      'members',
      'roles',
    ],
  ],
  workspace: ['projects', 'members', 'roles', 'workspace-settings'],
  namespace: [
    ...['app-workloads', 'applications', 'deployments', 'statefulsets', 'daemonsets', 'jobs', 'cronjobs'],
    ...['pods', 'services', 'ingresses', 'configmaps', 'secrets', 'serviceaccounts', 'volumes'],
    ...['project-settings', 'members', 'roles'],
  ],
} satisfies Readonly<Record<RoleScope, readonly string[]>>

function each(names: readonly string[], actions: readonly string[]): Preset['modules'] {
  return Object.fromEntries(names.map(name => [name, actions]))
}

/** Removes modules that `edit` and `view` do not permit, such as members and roles. */
const without = (names: readonly string[], ...also: readonly string[]) =>
  names.filter(name => !['members', 'roles', ...also].includes(name))

/**
 * Returns the predefined roles of a scope, the strongest first. Their permissions are those of the
 * default ClusterRoles of Kubernetes: cluster-admin, admin, edit and view.
 *
 * @param workspace prefix of the role names of a workspace
 */
export function presetsOf(scope: RoleScope, workspace = ''): readonly Preset[] {
  const all = each(modules[scope], manage)
  switch (scope) {
    case 'global':
      return [
        { name: 'platform-admin', clusterRole: 'cluster-admin', modules: all },
        // This ClusterRole has the permissions of every authenticated user.
        { name: 'platform-regular', clusterRole: 'kapis:visible-namespaces', modules: {} },
      ]
    case 'cluster':
      return [
        { name: 'cluster-admin', clusterRole: 'cluster-admin', modules: all },
        {
          name: 'cluster-viewer',
          clusterRole: 'view',
          modules: each(without(modules.cluster, 'secrets', 'nodes'), view),
        },
      ]
    case 'workspace':
      return [
        { name: `${workspace}-admin`, clusterRole: 'admin', modules: all },
        {
          name: `${workspace}-self-provisioner`,
          clusterRole: 'edit',
          modules: { projects: ['view', 'create'] },
        },
        { name: `${workspace}-viewer`, clusterRole: 'view', modules: { projects: view } },
        { name: `${workspace}-regular`, clusterRole: undefined, modules: { projects: view } },
      ]
    default:
      return [
        { name: 'admin', clusterRole: 'admin', modules: all },
        {
          name: 'operator',
          clusterRole: 'edit',
          modules: each(without(modules.namespace), manage),
        },
        {
          name: 'viewer',
          clusterRole: 'view',
          modules: each(without(modules.namespace, 'secrets'), view),
        },
      ]
  }
}
