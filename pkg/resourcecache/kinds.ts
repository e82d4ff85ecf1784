import type { Kind, KindOptions } from './kind.ts'
import { namespaces } from './kinds/namespaces.ts'
import { nodes } from './kinds/nodes.ts'
import {
  customResourceDefinitions,
  events,
  groupBindings,
  loginRecords,
  plain,
  users,
  workspaceRoleBindings,
  workspaceRoles,
} from './kinds/platform.ts'
import { pods } from './kinds/pods.ts'
import { claims, snapshotClasses, snapshotContents, snapshots, volumes } from './kinds/storage.ts'
import { cronJobs, daemonSets, deployments, jobs, replicated } from './kinds/workloads.ts'
import { workspaces } from './kinds/workspaces.ts'

/** Version of the resources group, in the extension API and in the platform API. */
export const resourcesVersion = 'v1alpha3'

export function resourcesGroup(groupDomain: string): string {
  return `resources.${groupDomain}`
}

/** Kinds that are cached from the start: most requests or annotations need them. */
export const alwaysFollowed: readonly Kind[] = [nodes]

/**
 * Returns the kinds of the extension API, from which discovery, OpenAPI and Tables are built. None
 * has a short name: built-in kinds have the same ones, and kubectl warns about duplicates.
 */
export function toAggregatedKinds(groupDomain: string): readonly Kind[] {
  const tenant = `tenant.${groupDomain}`
  return [
    ...alwaysFollowed,
    kind('', 'v1', 'Namespace', false, namespaces(groupDomain)),
    kind('', 'v1', 'Pod', true, pods),
    kind('', 'v1', 'PersistentVolumeClaim', true, claims),
    kind('apps', 'v1', 'Deployment', true, deployments),
    kind(tenant, 'v1alpha1', 'Workspace', false, workspaces),
  ]
}

type Row = { readonly group: string; readonly plural: string; readonly options: KindOptions }

/**
 * The kinds with special behaviour. Kinds without a row are served generically by their discovery
 * data. If several groups serve a plural, the row determines which of them is meant.
 */
export function createKindTable(groupDomain: string): readonly Row[] {
  const iam = `iam.${groupDomain}`
  const aggregated = toAggregatedKinds(groupDomain).map(({ source, plural, ...options }) =>
    row(source.group, plural, options),
  )
  return [
    ...aggregated,
    row('', 'events', events),
    row('', 'persistentvolumes', volumes),
    row('apps', 'statefulsets', replicated),
    row('apps', 'replicasets', replicated),
    row('apps', 'daemonsets', daemonSets),
    row('batch', 'jobs', jobs),
    row('batch', 'cronjobs', cronJobs),
    row('networking.k8s.io', 'ingresses', plain),
    row('networking.k8s.io', 'networkpolicies', plain),
    row('rbac.authorization.k8s.io', 'roles', plain),
    row('app.k8s.io', 'applications', plain),
    row('snapshot.storage.k8s.io', 'volumesnapshots', snapshots),
    row('snapshot.storage.k8s.io', 'volumesnapshotcontents', snapshotContents),
    row('snapshot.storage.k8s.io', 'volumesnapshotclasses', snapshotClasses),
    row('apiextensions.k8s.io', 'customresourcedefinitions', customResourceDefinitions),
    row(iam, 'users', users),
    row(iam, 'groups', plain),
    row(iam, 'loginrecords', loginRecords),
    row(iam, 'workspaceroles', workspaceRoles(groupDomain)),
    row(iam, 'workspacerolebindings', workspaceRoleBindings),
    row(iam, 'groupbindings', groupBindings(groupDomain)),
  ]
}

function row(group: string, plural: string, options: KindOptions): Row {
  return { group, plural, options }
}

function kind(group: string, version: string, name: string, namespaced: boolean, options: KindOptions): Kind {
  const singular = name.toLowerCase()
  const plural = `${singular}s`
  const scope = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return {
    plural,
    singular,
    kind: name,
    namespaced,
    source: { group, version, path: `${scope}/${plural}` },
    shortNames: [],
    categories: [],
    columns: [],
    ...options,
  }
}
