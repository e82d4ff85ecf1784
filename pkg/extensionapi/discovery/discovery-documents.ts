import { groupVersionOf, type ServedGroup, type ServedResource, verbsOf } from './served-group.ts'

/**
 * Versions of apidiscovery.k8s.io: kube-apiserver supports v2beta1 since 1.26 and v2 since 1.30.
 */
export type DiscoveryVersion = 'v2' | 'v2beta1'

/** Returns the resources for `/apis/<group>/<version>`, as metav1.APIResourceList. */
export function toResourceList(served: ServedGroup) {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersionOf(served),
    resources: served.resources.map(resource => ({
      name: resource.plural,
      singularName: resource.singular,
      namespaced: resource.namespaced,
      kind: resource.kind,
      verbs: verbsOf(resource),
      ...namesOf(resource),
    })),
  }
}

/** Returns `/apis/<group>` as metav1.APIGroup. The first version is preferred. */
export function toGroup(name: string, groups: readonly ServedGroup[]) {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(name, groups) }
}

/** Returns `/apis` as metav1.APIGroupList. */
export function toGroupList(groups: readonly ServedGroup[]) {
  const entries = [...byGroup(groups)].map(([name, versions]) => groupEntry(name, versions))
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: entries }
}

/** Returns `/apis` as aggregated discovery (KEP-3352). */
export function toAggregatedList(groups: readonly ServedGroup[], version: DiscoveryVersion) {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: [...byGroup(groups)].map(([name, versions]) => ({
      metadata: { name, creationTimestamp: null },
      versions: versions.map(served => ({
        version: served.version,
        resources: served.resources.map(resource => toDiscovered(served, resource)),
        freshness: 'Current',
      })),
    })),
  }
}

export function byGroup(groups: readonly ServedGroup[]): ReadonlyMap<string, readonly ServedGroup[]> {
  return Map.groupBy(groups, served => served.group)
}

function groupEntry(name: string, groups: readonly ServedGroup[]) {
  const versions = groups.map(served => ({ groupVersion: groupVersionOf(served), version: served.version }))
  return { name, versions, preferredVersion: versions[0] }
}

/** Always sets responseKind, without which client-go drops resources (0.26 crashes). */
function toDiscovered({ group, version }: ServedGroup, resource: ServedResource) {
  return {
    resource: resource.plural,
    responseKind: { group, version, kind: resource.kind },
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: verbsOf(resource),
    ...namesOf(resource),
  }
}

/** Omits empty lists, like omitempty in Go. */
function namesOf({ shortNames = [], categories = [] }: ServedResource) {
  return {
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
  }
}
