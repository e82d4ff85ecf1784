import type { Kind, Traits } from './kind.ts'
import { nodes } from './kinds/nodes.ts'
import {
  customResourceDefinitions,
  events,
  groupBindings,
  loginRecords,
  namespaces,
  plain,
  users,
  workspaceRoleBindings,
  workspaceRoles,
} from './kinds/platform.ts'
import { pods } from './kinds/pods.ts'
import { claims, snapshotClasses, snapshotContents, snapshots, volumes } from './kinds/storage.ts'
import { cronJobs, daemonSets, deployments, jobs, replicated } from './kinds/workloads.ts'

/**
 * Kinds that are served through aggregation too. Discovery, OpenAPI and Tables are made from them, and their caches run from
 * the start on.
 */
export const aggregatedKinds: readonly Kind[] = [nodes]

/** The version of the resources group, here and on every path. */
export const resourcesVersion = 'v1alpha3'

export function resourcesGroup(groupDomain: string): string {
  return `resources.${groupDomain}`
}

/** A row of the table of kinds. */
type Row = { readonly group: string; readonly plural: string; readonly traits: Traits }

/**
 * The table of kinds: what is special about each. A kind without a row is served all the same, by what discovery tells of
 * it. Where several groups serve one plural, the row says which of them is meant by the plural alone.
 */
export function createKindTable(groupDomain: string): readonly Row[] {
  const iam = `iam.${groupDomain}`
  return [
    row('', 'pods', pods),
    row('', 'nodes', nodes),
    row('', 'namespaces', namespaces),
    row('', 'events', events),
    row('', 'persistentvolumes', volumes),
    row('', 'persistentvolumeclaims', claims),
    row('apps', 'deployments', deployments),
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
    row(`tenant.${groupDomain}`, 'workspaces', plain),
  ]
}

function row(group: string, plural: string, traits: Traits): Row {
  return { group, plural, traits }
}
