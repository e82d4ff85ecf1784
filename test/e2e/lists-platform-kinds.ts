/** Custom resources of other projects, each with its scope and one or two example objects. */

type Manifest = { readonly metadata: object; readonly [member: string]: unknown }
type Example = { readonly [member: string]: unknown; readonly metadata?: object }

export type PlatformKind = {
  readonly plural: string
  readonly group: string
  readonly kind: string
  readonly namespaced: boolean
  /** The version of a kind that the manifests define. If undefined, the test defines the kind as v1. */
  readonly version?: string
  readonly examples: readonly Example[]
  /** Queries for this kind in addition to the common ones. */
  readonly queries: readonly string[]
}

const some: readonly Example[] = [{ spec: { a: 1 }, status: { phase: 'Active' } }, {}]

export function platformKinds(groupDomain: string): readonly PlatformKind[] {
  const workspace = { metadata: { labels: { [`${groupDomain}/workspace`]: 'blue' } } }
  const all = (group: string, namespaced: boolean, kinds: string) =>
    kinds.split(' ').map(kind => ({ group, kind, namespaced, examples: some, queries: [] }))
  const iam = { group: `iam.${groupDomain}`, namespaced: false }
  const kinds: readonly Omit<PlatformKind, 'plural'>[] = [
    ...all(`network.${groupDomain}`, true, 'IPPool'),
    ...all(`monitoring.${groupDomain}`, true, 'Dashboard'),
    ...all(`monitoring.${groupDomain}`, false, 'ClusterDashboard'),
    ...all(
      'types.kubefed.io',
      true,
      'FederatedNamespace FederatedDeployment FederatedSecret FederatedConfigMap FederatedService FederatedApplication FederatedPersistentVolumeClaim FederatedStatefulSet FederatedIngress',
    ),
    ...all(`devops.${groupDomain}`, false, 'DevOpsProject S2iBuilderTemplate'),
    ...all(`devops.${groupDomain}`, true, 'S2iBuilder S2iRun'),
    ...all(`tenant.${groupDomain}`, false, 'WorkspaceTemplate'),
    ...all(`cluster.${groupDomain}`, false, 'Cluster').map(kind => ({ ...kind, version: 'v1alpha1' })),
    ...all(`notification.${groupDomain}`, false, 'NotificationManager Config Receiver Router Silence'),
    ...all(iam.group, false, 'GlobalRole GlobalRoleBinding'),
    {
      ...iam,
      kind: 'WorkspaceRole',
      examples: [workspace, {}],
      queries: ['workspace=blue', 'workspace=red'],
    },
    {
      ...iam,
      kind: 'WorkspaceRoleBinding',
      examples: [{ roleRef: { kind: 'WorkspaceRole', name: 'admin' } }, {}],
      queries: ['rolename=admin', 'rolename=adm'],
    },
    {
      ...iam,
      kind: 'GroupBinding',
      examples: [
        { users: ['jane', 'joe'] },
        { metadata: { labels: { [`iam.${groupDomain}/user-ref`]: 'jane' } } },
        { users: ['janet'] },
      ],
      queries: ['user=jane', 'user=joe', 'user=j'],
    },
  ]
  return kinds.map(kind => ({ ...kind, plural: toPlural(kind.kind) }))
}

function toPlural(kind: string): string {
  const singular = kind.toLowerCase()
  return singular.endsWith('s') ? `${singular}es` : `${singular}s`
}

/** Returns a CustomResourceDefinition without restrictions on fields. */
export function crd(group: string, version: string, kind: string, namespaced: boolean): Manifest {
  const plural = toPlural(kind)
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
    },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  }
}

/**
 * @param namespace an existing namespace; the names of cluster-scoped objects begin with its name
 */
export function examplesOf(
  { group, version = 'v1', kind, namespaced, examples }: PlatformKind,
  namespace: string,
): Manifest[] {
  return examples.map(({ metadata, ...rest }, i) => ({
    apiVersion: `${group}/${version}`,
    kind,
    ...rest,
    metadata: {
      ...metadata,
      ...(namespaced ? { name: `example-${i}`, namespace } : { name: `${namespace}-${i}` }),
    },
  }))
}
